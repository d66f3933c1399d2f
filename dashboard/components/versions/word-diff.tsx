import { presentableDiff } from '@codemirror/merge';
import { useMemo } from 'react';
import classes from './word-diff.module.css';

/** Two texts as one: what only the first contains is struck out, what only the second contains is marked. Loaded on first use. */
export default function WordDiff(props: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  const { before, after, label } = props;
  const parts = useMemo(() => partsOf(before, after), [before, after]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section className={classes.words} aria-label={label} tabIndex={0} dir="auto">
      {parts.map(({ kind, text }, index) => {
        if (kind === 'same') return <span key={index}>{text}</span>;
        return kind === 'removed' ? <del key={index}>{text}</del> : <ins key={index}>{text}</ins>;
      })}
    </section>
  );
}

interface Part {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

function partsOf(before: string, after: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const { fromA, toA, fromB, toB } of presentableDiff(before, after, { timeout: 500 })) {
    parts.push({ kind: 'same', text: before.slice(at, fromA) });
    parts.push({ kind: 'removed', text: before.slice(fromA, toA) });
    parts.push({ kind: 'added', text: after.slice(fromB, toB) });
    at = toA;
  }
  parts.push({ kind: 'same', text: before.slice(at) });
  return parts.filter(({ text }) => text !== '');
}
