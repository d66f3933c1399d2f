/** Markdown as far as models write it, read into plain data. What is not understood stays text; HTML is never. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'rule' }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] };

const fence = /^ {0,3}(```+|~~~+)/;
const heading = /^ {0,3}(#{1,6}) (.*)$/;
const rule = /^ {0,3}(?:---+|\*\*\*+|___+) *$/;
const item = /^ {0,3}(?:[-*+]|(\d{1,9})[.)]) (.*)$/;
const row = /^ *\|.*\| *$/;
const underHead = /^[ |:-]+$/;

/** Line by line, each looked at once: hostile text takes no longer than any other. */
export function blocksOf(text: string): Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const blocks: Block[] = [];
  let at = 0;
  const line = () => lines[at] ?? '';
  const takeWhile = (goesOn: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (at < lines.length && goesOn(line())) {
      taken.push(line());
      at++;
    }
    return taken;
  };
  while (at < lines.length) {
    const mark = fence.exec(line())?.[1];
    const head = heading.exec(line());
    if (line().trim() === '') at++;
    else if (mark) {
      at++;
      const code = takeWhile((one) => !one.trimStart().startsWith(mark));
      at++;
      blocks.push({ kind: 'code', text: code.join('\n') });
    } else if (head) {
      at++;
      blocks.push({ kind: 'heading', level: head[1]?.length ?? 1, text: head[2] ?? '' });
    } else if (rule.test(line())) {
      at++;
      blocks.push({ kind: 'rule' });
    } else if (line().startsWith('>')) {
      const quoted = takeWhile((one) => one.startsWith('>'));
      blocks.push({ kind: 'quote', text: quoted.map((one) => one.replace(/^> ?/, '')).join('\n') });
    } else if (row.test(line())) {
      blocks.push({ kind: 'table', rows: cellsOf(takeWhile((one) => row.test(one))) });
    } else if (item.test(line())) {
      const ordered = item.exec(line())?.[1] !== undefined;
      blocks.push({ kind: 'list', ordered, items: itemsOf(takeWhile(inList)) });
    } else {
      blocks.push({ kind: 'paragraph', text: takeWhile(inParagraph).join('\n') });
    }
  }
  return blocks;
}

const inList = (line: string) => item.test(line) || /^ {2,}\S/.test(line);

function inParagraph(line: string): boolean {
  const starts = [fence, heading, rule, item, row];
  return line.trim() !== '' && !line.startsWith('>') && !starts.some((one) => one.test(line));
}

/** What is indented belongs to the item above it, nested items as lines of their own. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[][] = [];
  for (const line of lines) {
    const text = item.exec(line)?.[2];
    const last = items.at(-1);
    if (text !== undefined) items.push([text]);
    else last?.push(line.trim().replace(/^[-*+] /, '• '));
  }
  return items.map((parts) => parts.join('\n'));
}

function cellsOf(lines: readonly string[]): string[][] {
  return lines
    .filter((line) => !underHead.test(line))
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}
