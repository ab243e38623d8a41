const asQuoted = 'If it is text, put the whole text into quotes.';

/** The sentences about a file that is not YAML. `{name}` stands for the part that differs. Both SDKs print them. */
export const yamlSentences = {
  tab: 'YAML allows no tab here: indent with spaces.',
  openQuote: 'The text that begins here has no closing {quote} quote.',
  openBracket: 'The {opener} that begins here is not closed with {closer}.',
  noColon: 'A colon is missing after `{key}`.',
  noSpace: 'Write a space after the colon of `{key}`.',
  twice: '`{key}` is in this block already: remove one of them.',
  colonInValue: `The value contains a colon. ${asQuoted}`,
  badStart: `A value cannot begin with {sign}. ${asQuoted}`,
  endedBefore: `The value ends before this. ${asQuoted}`,
  listAfterKey: 'A list begins on the line after its key: move the dash there.',
  uneven: 'The indentation of this line fits none of the lines above: entries of one level begin in the same column.',
  badEscape: '{escape} means nothing between double quotes: write it in single quotes.',
  straySign: `{sign} does not belong here: remove it. ${asQuoted}`,
  textAfterSign: 'Begin the text on the line after {sign}.',
  tag: `The tag \`{tag}\` has no meaning here: remove it. ${asQuoted}`,
  keyNotText: `A key is one text, such as \`name:\`. ${asQuoted}`,
  manyAliases: 'The aliases stand for too many values: write the values instead.',
  secondDocument: 'A deployment file is one document: remove the line ---, or write a second file.',
  noAnchor: 'Nothing before this is marked `&{name}`.',
  badMerge: 'Write the alias of a mapping after `<<:`, or a list of them.',
  noMapping: 'A deployment file is lines of `key: value`, with at least a `name`.',
  noName: '`name` is needed, as text: lowercase letters, digits and dashes, by which the deployment is found again.',
  noFile:
    'There is no such file: write one, for example with `vestra init`, or name the folder or file of the deployment.',
  notUtf8: 'The file is not text in UTF-8: save it as UTF-8.',
} as const;

export function yamlSentence(name: keyof typeof yamlSentences, parts: Readonly<Record<string, string>> = {}): string {
  return yamlSentences[name].replace(/\{(\w+)\}/g, (whole, part: string) => parts[part] ?? whole);
}
