//! Schemas that make no sense, with every word that is said about them.

/// Text, and message.
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    (
        r#"dataset = "d"
[columns]
who = { type = "id", private = true }
a = { type = "flag" }
"#,
        r#"schema.toml, line 3: column 'who' is an id: it is never learnt from or shown, so it cannot be marked private; remove private"#,
    ),
    (
        r#""#,
        r#"schema.toml has 2 errors:
  line 1: dataset is missing; add: dataset = "adult"
  line 1: [columns] is missing; add lines such as:
      [columns]
      age = { type = "integer", min = 0, max = 120 }
      sex = { type = "category", values = ["F", "M"] }"#,
    ),
    (
        r#"dataset = "d"
"#,
        r#"schema.toml, line 1: [columns] is missing; add lines such as:
    [columns]
    age = { type = "integer", min = 0, max = 120 }
    sex = { type = "category", values = ["F", "M"] }"#,
    ),
    (
        r#"dataset = ""
[columns]
a = { type = "flag" }
"#,
        r#"schema.toml, line 1: "" cannot be the name of a data set: it must have 1 to 100 characters"#,
    ),
    (
        r#"dataset = " d "
row_per_unit = 3
[columns]
a = { type = "flag" }
"#,
        r#"schema.toml has 2 errors:
  line 1: " d " cannot be the name of a data set: line breaks, control characters and spaces at its ends look like another name
  line 2: row_per_unit is not known here; did you mean rows_per_unit?"#,
    ),
    (
        r#"dataset = 5
[columns]
age = { type = "integer" }
bmi = { type = "number", min = 10 }
sex = { type = "category" }
"#,
        r#"schema.toml has 4 errors:
  line 1: dataset is a number (5); write a text, such as dataset = "5"
  line 3: column 'age' needs min and max, from public knowledge and not from this table, such as: age = { type = "integer", min = 0, max = 120 }
  line 4: column 'bmi' needs max, from public knowledge and not from this table, such as: max = 120
  line 5: column 'sex' needs its values, from public knowledge and not from this table, such as: sex = { type = "category", values = ["low", "high"] }"#,
    ),
    (
        r#"dataset = "d"
[columns]
age = { type = "integer", min = "17", max = 90 }
bmi = { type = "number", min = 80, max = 10 }
hb = { type = "number", min = nan, max = inf }
"#,
        r#"schema.toml has 4 errors:
  line 3: min is a text ("17"); write a number, such as min = 17
  line 4: column 'bmi': min = 80 must be below max = 10
  line 5: min is not a finite number (nan); write a number, such as min = 10
  line 5: max is not a finite number (inf); write a number, such as max = 10"#,
    ),
    (
        r#"dataset = "d"
[columns]
age = { type = "int", min = 0, max = 9 }
bmi = { type = "float" }
sex = { type = "colour" }
x = { min = 0, max = 1 }
y = "integer"
"#,
        r#"schema.toml has 5 errors:
  line 3: type = "int" is not known; did you mean "integer"?
  line 4: type = "float" is not known; did you mean "number"?
  line 5: type = "colour" is not known; it can be "number", "integer", "date", "ordinal", "category", "flag", "id", "skip", "label", "weight"
  line 6: column 'x' needs a type, such as: x = { type = "integer", min = 0, max = 120 }
  line 7: y is a text ("integer"); write a section, such as y = { type = "integer", min = 0, max = 120 }"#,
    ),
    (
        r#"dataset = "d"
[columns]
age = { type = "integer", min = 0, max = 9, values = ["a", "b"] }
sex = { type = "category", values = ["F", "M"], bins = 3 }
id = { type = "id", min = 0 }
"#,
        r#"schema.toml has 3 errors:
  line 3: values is for columns of type ordinal, category, flag, label; column 'age' is of type integer: remove it, or change the type
  line 4: bins is for columns of type number, integer, date; column 'sex' is of type category: remove it, or change the type
  line 5: min is for columns of type number, integer, date, label; column 'id' is of type id: remove it, or change the type"#,
    ),
    (
        r#"dataset = "d"
[columns]
grade = { type = "ordinal", values = [1, 2, 3] }
sex = { type = "category", values = ["F", "F"] }
blood = { type = "category", values = ["A"] }
smoker = { type = "flag", values = ["a", "b", "c"] }
city = { type = "category", values = ["x", "y"], fill = "z" }
room = { type = "category", values = ["x ", "y"] }
"#,
        r#"schema.toml has 6 errors:
  line 3: values lists a number (1); write texts: values = ["1", "2", "3"]
  line 4: column 'sex': "F" is declared twice
  line 5: column 'blood': at least two values are needed
  line 6: column 'smoker': a flag has two values, no and yes
  line 7: column 'city': fill = "z" is not one of the values
  line 8: column 'room': "x " begins or ends with a space: cells are trimmed"#,
    ),
    (
        r#"dataset = "d"
[columns]
a = { type = "number", min = 0, max = 10, transform = "log" }
b = { type = "number", min = 0, max = 10, transform = "ln" }
c = { type = "number", min = 0, max = 10, bins = 0 }
d = { type = "number", min = 0, max = 10, bins = 100000 }
e = { type = "number", min = 0, max = 10, cuts = [5, 2] }
f = { type = "number", min = 0, max = 10, cuts = [5], bins = 3 }
g = { type = "number", min = 0, max = 10, fill = 11 }
h = { type = "integer", min = 0.5, max = 10 }
"#,
        r#"schema.toml has 8 errors:
  line 3: column 'a': transform = "log" needs min above 0, not 0
  line 4: transform = "ln" is not known; it can be "none", "log", "log1p", "sqrt", "asinh"
  line 5: column 'c': bins = 0: 1 to 65000 are possible
  line 6: column 'd': bins = 100000: 1 to 65000 are possible
  line 7: column 'e': cuts must rise, and lie above min = 0 and at most at max = 10
  line 8: column 'f': either bins or cuts can be declared, not both
  line 9: column 'g': fill = 11 must lie between min = 0 and max = 10
  line 10: column 'h': min = 0.5 and max = 10 of an integer must be whole"#,
    ),
    (
        r#"dataset = "d"
[columns]
a = { type = "number", min = 0, max = 10, transform = "log1p", scale = 0 }
b = { type = "number", min = 0, max = 10, transform = "asinh", scale = -2.5 }
c = { type = "number", min = 0, max = 10, transform = "asinh", scale = nan }
d = { type = "number", min = 0, max = 10, transform = "log1p", scale = 1e300 }
e = { type = "number", min = 0, max = 10, scale = 5 }
f = { type = "number", min = 1, max = 10, transform = "log", scale = 5 }
g = { type = "number", min = 0, max = 10, transform = "log1p", scale = "5" }
h = { type = "flag", scale = 5 }
i = { type = "number", min = -1, max = 10, transform = "log1p" }
j = { type = "number", min = 0, max = 10, transform = "ln", scale = 5 }
[columns.k]
type = "number"
min = 0
max = 10
transform = "sqrt"
scale = 1
"#,
        r#"schema.toml has 11 errors:
  line 3: column 'a': scale = 0 must be above zero, from 1e-38 to 1e38
  line 4: column 'b': scale = -2.5 must be above zero, from 1e-38 to 1e38
  line 5: scale is not a finite number (nan); write a number, such as scale = 10
  line 6: column 'd': scale = 1e300 must be above zero, from 1e-38 to 1e38
  line 7: column 'e': scale is for transform = "log1p" or "asinh": remove it, or add one of them
  line 8: column 'f': scale is for transform = "log1p" or "asinh": remove it, or add one of them
  line 9: scale is a text ("5"); write a number, such as scale = 5
  line 10: scale is for columns of type number, integer; column 'h' is of type flag: remove it, or change the type
  line 11: column 'i': transform = "log1p" needs min above -1, not -1; with a scale, such as scale = 1, it takes any
  line 12: transform = "ln" is not known; it can be "none", "log", "log1p", "sqrt", "asinh"
  line 18: column 'k': scale is for transform = "log1p" or "asinh": remove it, or add one of them"#,
    ),
    (
        r#"dataset = "d"
unit = "person"
[columns]
a = { type = "flag" }
"#,
        r#"schema.toml, line 2: unit = "person" names no declared column"#,
    ),
    (
        r#"dataset = "d"
unit = "a"
rows_per_unit = 0
[columns]
a = { type = "flag" }
"#,
        r#"schema.toml has 2 errors:
  line 2: unit = "a" names a column that is not of type "id"
  line 3: rows_per_unit = 0: at least 1 and at most 4294967295 are possible"#,
    ),
    (
        r#"dataset = "d"
rows_per_unit = 3
[columns]
a = { type = "flag" }
"#,
        r#"schema.toml, line 2: rows_per_unit needs unit = "COLUMN", the column that tells people apart"#,
    ),
    (
        r#"dataset = "d"
[columns]
id = { type = "id" }
y = { type = "label", values = ["0", "1"] }
z = { type = "label", min = 0, max = 1 }
"#,
        r#"schema.toml, line 5: 'y' and 'z' are both labels: a model learns one"#,
    ),
    (
        r#"dataset = "d"
[columns]
a = { type = "flag" }
y = { type = "label" }
"#,
        r#"schema.toml, line 4: column 'y' needs its values, or min and max, from public knowledge and not from this table, such as: y = { type = "label", values = ["no", "yes"] }"#,
    ),
    (
        r#"dataset = "d"
[columns]
a = { type = "flag" }
y = { type = "label", values = ["0", "1"], max = 3 }
"#,
        r#"schema.toml, line 4: column 'y' has both values and bounds; a label is one of some values, or a number"#,
    ),
    (
        r#"dataset = "d"
[columns]
a = { type = "flag" }
y = { type = "label", min = 3, max = 3, fill = 3 }
"#,
        r#"schema.toml has 2 errors:
  line 4: fill is for labels with values; a label without a number counts as the middle
  line 4: column 'y': min = 3 must be below max = 3"#,
    ),
    (
        r##"dataset = "d"
missing = ["", " "]
[file]
header = "yes"
delimiter = ";;"
quote = "é"
coment = "#"
[columns]
a = { type = "flag" }
"##,
        r#"schema.toml has 5 errors:
  line 2: missing has " ": cells are trimmed, and have no control characters
  line 4: header is a text ("yes"); write true or false, such as header = true
  line 5: delimiter = ";;" must be one ASCII character, or "tab"
  line 6: quote = "é" must be one ASCII character, or "tab"
  line 7: coment is not known here; did you mean comment?"#,
    ),
    (
        r#"dataset = "d"
missing = "NA"
[file]
delimiter = "tab"
quote = "\t"
comment = "\n"
[columns]
a = { type = "flag" }
"#,
        r#"schema.toml has 3 errors:
  line 2: missing is a text ("NA"); write a list of texts, such as missing = ["NA"]
  line 5: delimiter and quote are both '\t'
  line 6: comment must be an ASCII character that ends no line"#,
    ),
    (
        r#"dataset = "d"
[columns]
age = { type = "integer", min = 0, max = 9 }
age = { type = "integer", min = 0, max = 9 }
"#,
        r#"schema.toml, line 4, column 1: age is written twice; keep one"#,
    ),
    (
        r#"dataset = "d"
[columns.age]
type = "integer"
min = 0

[columns.sex]
type = "category"
values = ["F", "M"]
private = "no"
mesure = "x"
"#,
        r#"schema.toml has 3 errors:
  line 2: column 'age' needs max, from public knowledge and not from this table, such as: max = 120
  line 9: private is a text ("no"); write true or false, such as private = false
  line 10: mesure is not known here; did you mean measure?"#,
    ),
    (
        r#"dataset = adult
[columns]
age = { type = "integer" min = 0 }
"#,
        r#"schema.toml has 2 errors:
  line 1, column 11: adult needs quotes if it is a text: "adult"
  line 3, column 26: a comma is missing between two entries of { … }"#,
    ),
    (
        r#"dataset = "d"
[columns]
"a\u0007b" = { type = "flag", measure = "\u001b[2J" }
"#,
        r#"schema.toml, line 3: column "a\u{7}b": a name cannot have control characters"#,
    ),
    (
        r#"dataset = "d"
columns = 3
"#,
        r#"schema.toml, line 2: columns is a number (3); write a section: columns = { … }, or a line [columns]"#,
    ),
    (
        r#"dataset = "d"
[columns]
[colums]
age = { type = "integer", min = 0, max = 9 }
"#,
        r#"schema.toml has 2 errors:
  line 2: no column to learn from is declared
  line 3: colums is not known here; did you mean columns?"#,
    ),
    (
        r#"dataset = "d"
[columns]
big = { type = "number", min = 0, max = 1e39 }
fine = { type = "number", min = 1000000, max = 1000000.1 }
day = { type = "number", min = 2020-01-01, max = 2021-01-01 }
"#,
        r#"schema.toml has 4 errors:
  line 3: column 'big': min = 0.0 and max = 1e39 must be finite numbers below 3e38
  line 4: column 'fine': 128 bins between 1000000 and 1000000.1 are finer than single precision
  line 5: min is a date (2020-01-01); write a number, such as min = 10
  line 5: max is a date (2021-01-01); write a number, such as max = 10"#,
    ),
];
