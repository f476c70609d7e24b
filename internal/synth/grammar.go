package synth

// The words and code the invented repositories are made of. In code, $F is the function's
// name, $A its main argument, $N what the module is about, $P the package.

var packages = []string{
	"webshop", "railmap", "seedbank", "tidelog", "bookclub", "museum", "hivewatch", "lanternfest",
	"orchard", "ferrytime", "glasshouse", "kitelab", "millpond", "nightbus", "ovenclock", "parcelhub",
	"quarry", "ropewalk", "saltworks", "treehouse", "vineyard", "weathervane", "yardsale", "zookeeper",
}

var topics = []string{
	"cart", "price", "ticket", "route", "sensor", "invoice", "member", "loan", "exhibit", "colony",
	"harvest", "berth", "shift", "parcel", "voucher", "season", "batch", "reading", "schedule", "permit",
	"auction", "animal", "vessel", "platform", "tariff", "recipe", "festival", "sample", "visitor", "basket",
	"ledger", "signal", "garden", "timetable", "locker", "refund", "courier", "stall", "barrel", "cabin",
}

var verbs = []string{
	"collect", "merge", "render", "check", "filter", "count", "group", "load", "store", "rank",
	"index", "split", "describe", "refresh", "export", "audit", "apply", "pack", "trace", "lookup",
}

// ordinary functions fill the modules around the bug.
var ordinary = []string{
	`def $F($A, limit=None):
    """Return the active $N entries of $A, at most limit of them."""
    result = []
    for item in $A:
        if item.active:
            result.append(item)
    return result[:limit]`,
	`def $F($A):
    """Count the entries of $A by kind."""
    totals = {}
    for item in $A:
        totals[item.kind] = totals.get(item.kind, 0) + 1
    return totals`,
	`def $F($A, other):
    """Combine two $N tables; entries of other win."""
    merged = dict($A)
    merged.update(other)
    return merged`,
	`def $F(path):
    """Read a $N file and return its non-empty lines."""
    with open(path, encoding="utf-8") as handle:
        return [line.rstrip("\n") for line in handle if line.strip()]`,
	`def $F($A, key="name"):
    """Sort $A by one attribute, missing values last."""
    return sorted($A, key=lambda item: (getattr(item, key) is None, getattr(item, key)))`,
	`def $F($A):
    """Describe a $N for the log."""
    if $A is None:
        return "no $N"
    return "$N %s (%d parts)" % ($A.name, len($A.parts))`,
	`def $F($A, size=50):
    """Yield $A in chunks of size."""
    for start in range(0, len($A), size):
        yield $A[start:start + size]`,
	`def $F($A, strict=False):
    """Raise ValueError when $A is not a usable $N."""
    problems = [name for name in ("name", "kind") if not getattr($A, name, "")]
    if problems and strict:
        raise ValueError("$N lacks " + ", ".join(problems))
    return not problems`,
	`class $K:
    """Keeps $N entries in the order they came."""

    def __init__(self, entries=()):
        self.entries = list(entries)

    def add(self, entry):
        self.entries.append(entry)
        return entry

    def names(self):
        return [entry.name for entry in self.entries]`,
	`def $F($A, rate):
    """Scale every amount of $A by rate, rounded to cents."""
    return [round(item.amount * rate, 2) for item in $A]`,
}

// bugKind is a defect with its repairs. buggy is a segment of body; fixed, partial and
// delegated are what may stand in its place. partial passes the reproduction of the report
// but not the hidden tests. delegated calls helper, which goes into another module.
type bugKind struct {
	title, report             string
	body                      string
	buggy, fixed, partial     string
	helperName, helper        string
	delegated                 string
	call, failure, raisedLine string
}

var bugKinds = []bugKind{
	{
		title:      "$F crashes when there is no $N at all",
		report:     "With an empty list, $F raises IndexError. It should return the default it was given, because a shop, club or harbour without any $N is a normal situation on the first day.",
		body:       "def $F($A, default=None):\n    \"\"\"Return the largest value in $A, or default.\"\"\"\n    best = $A[0].value\n    for item in $A[1:]:\n        if item.value > best:\n            best = item.value\n    return best",
		buggy:      "    best = $A[0].value\n    for item in $A[1:]:",
		fixed:      "    if not $A:\n        return default\n    best = $A[0].value\n    for item in $A[1:]:",
		partial:    "    if $A == []:\n        return None\n    best = $A[0].value\n    for item in $A[1:]:",
		helperName: "first_value",
		helper:     "def first_value(items, default=None):\n    \"\"\"Return the value of the first item, or default.\"\"\"\n    for item in items:\n        return item.value\n    return default",
		delegated:  "    best = first_value($A, default)\n    for item in $A[1:]:",
		call:       "$F([], default=0)", failure: "IndexError: list index out of range", raisedLine: "best = $A[0].value",
	},
	{
		title:      "First page of $F is missing",
		report:     "Pages are documented to count from 1, yet $F(items, 1) returns what should be the second page. The last page is always empty for the same reason.",
		body:       "def $F($A, page, size=20):\n    \"\"\"Return one page of $A; pages count from 1.\"\"\"\n    start = page * size\n    stop = start + size\n    return $A[start:stop]",
		buggy:      "    start = page * size",
		fixed:      "    start = (page - 1) * size",
		partial:    "    start = page * size if page > 1 else 0",
		helperName: "page_start",
		helper:     "def page_start(page, size):\n    \"\"\"Return the offset of a page; pages count from 1.\"\"\"\n    return (page - 1) * size",
		delegated:  "    start = page_start(page, size)",
		call:       "$F(list(range(5)), 1, size=2)", failure: "AssertionError: expected [0, 1], got [2, 3]", raisedLine: "return $A[start:stop]",
	},
	{
		title:      "$F does not find a $N typed with capitals or spaces",
		report:     "Looking up ' Blue ' finds nothing although 'blue' exists. The comparison in $F should ignore case and surrounding blanks on both sides.",
		body:       "def $F($A, name):\n    \"\"\"Return the $N called name, ignoring case and blanks.\"\"\"\n    for key, entry in $A.items():\n        if key == name:\n            return entry\n    return None",
		buggy:      "        if key == name:",
		fixed:      "        if key.strip().lower() == name.strip().lower():",
		partial:    "        if key == name.strip().lower():",
		helperName: "same_name",
		helper:     "def same_name(left, right):\n    \"\"\"Compare two names, ignoring case and blanks.\"\"\"\n    return left.strip().lower() == right.strip().lower()",
		delegated:  "        if same_name(key, name):",
		call:       "$F({'blue': 1}, ' Blue ')", failure: "AssertionError: expected 1, got None", raisedLine: "return None",
	},
	{
		title:      "$F loses the fraction of an average",
		report:     "The mean of 1 and 2 comes out as 1. Reports built on $F are therefore too low. An empty list should give 0.0 as before.",
		body:       "def $F($A):\n    \"\"\"Return the mean amount of $A as a float.\"\"\"\n    total = sum(item.amount for item in $A)\n    count = len($A) or 1\n    return total // count",
		buggy:      "    count = len($A) or 1\n    return total // count",
		fixed:      "    count = len($A) or 1\n    return float(total) / count",
		partial:    "    count = len($A) or 1\n    return float(total // count)",
		helperName: "mean_of",
		helper:     "def mean_of(total, count):\n    \"\"\"Return total / count as a float, 0.0 for nothing.\"\"\"\n    return float(total) / (count or 1)",
		delegated:  "    count = len($A)\n    return mean_of(total, count)",
		call:       "$F(make_items(1, 2))", failure: "AssertionError: expected 1.5, got 1", raisedLine: "return total // count",
	},
	{
		title:      "$F fails for a $N without an owner",
		report:     "An imported $N may have no owner. $F then raises AttributeError; it should print a dash, and the same goes for an owner without a name.",
		body:       "def $F($A):\n    \"\"\"Return a label such as 'lamp (Ada)'.\"\"\"\n    title = $A.title or \"untitled\"\n    owner = $A.owner.name\n    return \"%s (%s)\" % (title, owner)",
		buggy:      "    owner = $A.owner.name",
		fixed:      "    owner = \"-\"\n    if $A.owner is not None and $A.owner.name:\n        owner = $A.owner.name",
		partial:    "    owner = $A.owner.name if $A.owner else \"\"",
		helperName: "owner_name",
		helper:     "def owner_name(entry):\n    \"\"\"Return the owner's name, a dash when there is none.\"\"\"\n    owner = getattr(entry, \"owner\", None)\n    return getattr(owner, \"name\", \"\") or \"-\"",
		delegated:  "    owner = owner_name($A)",
		call:       "$F(make_item(title='lamp', owner=None))", failure: "AttributeError: 'NoneType' object has no attribute 'name'", raisedLine: "owner = $A.owner.name",
	},
	{
		title:      "$F raises while it removes old $N entries",
		report:     "As soon as one entry has expired, $F stops with RuntimeError because the dictionary changes while it is being read. All expired entries should be gone after one call.",
		body:       "def $F($A, today):\n    \"\"\"Drop the expired entries of $A in place and return how many.\"\"\"\n    dropped = 0\n    for key in $A:\n        if $A[key].expires < today:\n            del $A[key]\n            dropped += 1\n    return dropped",
		buggy:      "    for key in $A:",
		fixed:      "    for key in list($A):",
		partial:    "    for key in sorted($A)[:1]:",
		helperName: "stable_keys",
		helper:     "def stable_keys(table):\n    \"\"\"Return the keys as a list that survives deletions.\"\"\"\n    return list(table)",
		delegated:  "    for key in stable_keys($A):",
		call:       "$F(make_table(expired=2), TODAY)", failure: "RuntimeError: dictionary changed size during iteration", raisedLine: "for key in $A:",
	},
	{
		title:      "$F says that two neighbouring $N periods overlap",
		report:     "A period that ends at noon and one that begins at noon do not overlap, but $F says they do; and for periods far apart in the wrong order it says so too.",
		body:       "def $F($A, other):\n    \"\"\"Tell whether two half-open periods share a moment.\"\"\"\n    first, second = $A, other\n    if first.end < second.start:\n        return False\n    return True",
		buggy:      "    if first.end < second.start:\n        return False\n    return True",
		fixed:      "    return first.start < second.end and second.start < first.end",
		partial:    "    if first.end <= second.start:\n        return False\n    return True",
		helperName: "share_moment",
		helper:     "def share_moment(first, second):\n    \"\"\"Tell whether two half-open periods share a moment.\"\"\"\n    return first.start < second.end and second.start < first.end",
		delegated:  "    return share_moment(first, second)",
		call:       "$F(Period(9, 12), Period(12, 14))", failure: "AssertionError: expected False, got True", raisedLine: "return True",
	},
	{
		title:      "Commas inside quotes break $F",
		report:     "A $N line such as 'a,\"b,c\",d' should give three fields. $F gives four, and the quotes stay in the text.",
		body:       "def $F($A, expected=None):\n    \"\"\"Split one line of a $N file into fields.\"\"\"\n    fields = $A.split(\",\")\n    if expected and len(fields) != expected:\n        raise ValueError(\"want %d fields, got %d\" % (expected, len(fields)))\n    return fields",
		buggy:      "    fields = $A.split(\",\")",
		fixed:      "    fields = next(csv.reader([$A]))",
		partial:    "    fields = [part.strip('\"') for part in $A.split(\",\")]",
		helperName: "csv_fields",
		helper:     "def csv_fields(line):\n    \"\"\"Split a line by commas outside quotes.\"\"\"\n    return next(csv.reader([line]))",
		delegated:  "    fields = csv_fields($A)",
		call:       "$F('a,\"b,c\",d', expected=3)", failure: "ValueError: want 3 fields, got 4", raisedLine: "raise ValueError(",
	},
}

// Sentences an agent writes beside its calls, by what the call does. %s is the file or name.
var thoughts = map[act][]string{
	actList:    {"I'll start with the layout of the repository.", "Let me see what is in the repository.", "First an overview of the files."},
	actView:    {"Let me read %s.", "I want to see %s as a whole.", "%s looks relevant, opening it.", "Now %s."},
	actGrep:    {"Where is %s used?", "Searching for %s.", "Let me find every mention of %s."},
	actRepro:   {"I'll write a small script that shows the problem before I change anything.", "A reproduction first."},
	actRun:     {"Let me run the script.", "Does the problem show?", "Running the reproduction."},
	actEdit:    {"I'll change %s so that the reported case works.", "The cause is in %s; here is the change.", "Editing %s."},
	actTest:    {"Running the tests around %s.", "Let me see whether the tests still pass.", "Now the test suite."},
	actDiff:    {"A last look at the whole change.", "Let me review my change."},
	actCleanup: {"The script is not part of the change, removing it.", "Cleaning up."},
	actOther:   {"Let me check one more thing.", "Next step.", "I need a bit more context."},
}

// reflections are the texts of think calls; $F and $T are the function and its file.
var reflections = []string{
	"The report names $F. Its code is in $T. I should confirm the behaviour, then look for other callers before I decide where the repair belongs.",
	"What do I know: $F gets the value unchanged, and nothing before it normalises it. The smallest correct change is inside $F itself.",
	"Two places could be repaired: $F, or whoever calls it. Repairing $F protects all callers.",
	"The edge cases I must keep: empty input, one element, and the order of the results. I will test each – nothing else should change.",
	"Plan: 1) reproduce, 2) change $F in $T, 3) run the neighbouring tests, 4) read the difference once more.",
	"I am not sure that this is the right place. Let me go over the call path again, from the command line down to $F.",
}
