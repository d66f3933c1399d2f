import { useMemo } from 'react';
import { Highlighted } from '../highlight.tsx';
import classes from './record.module.css';

/** Text of any length. The browser lays out only the parts in view, but finds words in all of them. */
export function LongText(props: {
  readonly label: string;
  readonly text: string;
  readonly pattern: RegExp | null;
}) {
  const { label, text, pattern } = props;
  const parts = useMemo(() => partsOf(text), [text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section className={classes.longText} aria-label={`${label} as text`} tabIndex={0} dir="auto">
      {parts.map((part, index) => (
        <div key={index} className={parts.length > 1 ? classes.textPart : undefined}>
          <Highlighted text={part} pattern={pattern} />
        </div>
      ))}
    </section>
  );
}

const partMin = 5_000;

/** Cuts at line breaks only: a part is a block of its own. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const lineEnd = text.indexOf('\n', start + partMin);
    const end = lineEnd < 0 ? text.length : lineEnd;
    parts.push(text.slice(start, end));
    start = end + 1;
  }
  return parts.length === 0 ? [''] : parts;
}
