module { nonsense }
