import { Fragment, type ReactNode } from 'react';

/** Marks what a search found, by the rules of the server: whole words in any case, phrases across punctuation. */

/** What to mark; null if the search names nothing to find. */
export function searchPattern(q: string | undefined): RegExp | null {
  if (q === undefined) return null;
  const phrases = [...q.matchAll(/(-?)"([^"]*)"?|(\S+)/g)].flatMap(([, minus, quoted, word]) => {
    if (minus === '-' || word?.startsWith('-') || word?.toLowerCase() === 'or') return [];
    const words = (quoted ?? word ?? '').match(/[\p{L}\p{M}\p{N}]+/gu);
    return words ? words.join('[^\\p{L}\\p{M}\\p{N}]+') : [];
  });
  if (phrases.length === 0) return null;
  return new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}])(?:${phrases.join('|')})(?![\\p{L}\\p{M}\\p{N}])`,
    'giu',
  );
}

/** More marks than anybody reads would block the page. */
const marksMax = 500;

export function Highlighted({
  text,
  pattern,
}: {
  readonly text: string;
  readonly pattern: RegExp | null;
}) {
  if (!pattern) return <>{text}</>;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (parts.length >= 2 * marksMax) break;
    parts.push(text.slice(end, match.index));
    parts.push(<mark key={match.index}>{match[0]}</mark>);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return (
    <>
      {parts.map((part, index) => (
        <Fragment key={index}>{part}</Fragment>
      ))}
    </>
  );
}

const [before, shown] = [16, 240];

/** The text around the first match, on one line; null if the texts do not show it. */
export function snippetOf(texts: readonly (string | undefined)[], pattern: RegExp): string | null {
  for (const text of texts) {
    const at = text?.search(pattern) ?? -1;
    if (text === undefined || at < 0) continue;
    const start = Math.max(0, at - before);
    const cut = text.slice(start, start + shown).replace(/\s+/g, ' ');
    return start > 0 ? `…${cut}` : cut;
  }
  return null;
}
