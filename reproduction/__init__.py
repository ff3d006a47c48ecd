"""The tables of the papers and the claims of the textbook, made again from real data."""

# By name, in the order of the page. Stands here so that whoever offers the choice need not import
# what makes them; see ``reproduction.tables``.
TABLES = (
    "freund-schapire",
    "libol",
    "shuffling",
    "early-stopping",
    "averaging",
    "survival",
    "mixing",
)
