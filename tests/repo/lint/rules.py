"""Every rule, in the order in which they are run."""

import documents
import goldens
import structure
import text

RULES = [*structure.RULES, *text.RULES, *documents.RULES, *goldens.RULES]
