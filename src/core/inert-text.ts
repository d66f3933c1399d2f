/**
 * A text of a caller or a member inside a message that a person reads: in Slack, in Teams, or in an e-mail. It stays one line
 * of plain text: nothing in it is a link, an emphasis, code, an image or a mention.
 *
 * Characters that these programs interpret become others that look alike. Escapes would not do: Slack has none for `*`, Teams
 * has those of Markdown, and all of them link whatever looks like an address. Nor would an invisible character within an
 * address: such characters are what the text must lose.
 */
export function inertText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[*~`[\]@\\]/g, (one) => lookalikes[one] ?? one)
    .replace(dotOfAddress, '․')
    .replace(colonOfScheme, '：')
    .replace(underscoreOfEmphasis, '＿')
    .trim();
}

const lookalikes: Readonly<Record<string, string>> = {
  '*': '∗',
  '~': '∼',
  '`': 'ˋ',
  '[': '［',
  ']': '］',
  '@': '＠',
  '\\': '＼',
};
const dotOfAddress = /(?<=\S)[.。．｡](?=\S)/g;
/** Not that of a time: `10:30`. */
const colonOfScheme = /(?<!\d):(?=\S)|:(?=[^\s\d])/g;
/** Identifiers and codes keep theirs: `exe_1`. */
const underscoreOfEmphasis = /(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;
