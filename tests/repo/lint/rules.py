"""Every rule, in the order in which they are run."""

import documents
import goldens
import structure
import text
import unused

RULES = [*structure.RULES, *text.RULES, *unused.RULES, *documents.RULES, *goldens.RULES]
