import { useState } from 'react';
import { ExactNumber, stringify } from '../../../data/text/exact-json.ts';
import classes from './json-tree.module.css';

/** JSON as a tree: objects and lists fold, and long lists show a part at a time. Numbers are as written. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section className={classes.tree} aria-label="Output as JSON" tabIndex={0}>
      <Node value={value} depth={0} />
    </section>
  );
}

interface NodeProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

/** Deeper and longer ones start folded. */
const [openDepth, openLength, shownStep] = [3, 50, 100];

function Node(props: NodeProps) {
  const { name, value } = props;
  const isFolding = typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
  if (isFolding) return <Branch {...props} value={value} />;
  return (
    <div className={classes.leaf}>
      <Name name={name} />
      <span data-type={value === null ? 'null' : typeof value} dir="auto">
        {stringify(value)}
      </span>
    </div>
  );
}

function Branch({ name, value, depth }: NodeProps & { readonly value: object }) {
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const [open, setOpen] = useState(depth < openDepth && entries.length <= openLength);
  const [shown, setShown] = useState(shownStep);
  const [begin, end] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className={classes.leaf}>
        <Name name={name} />
        {begin}
        {end}
      </div>
    );
  }
  const noun = isList ? 'item' : 'field';
  const count = entries.length === 1 ? `1 ${noun}` : `${entries.length.toLocaleString()} ${noun}s`;
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        {begin}
        {!open && (
          <>
            <span className={classes.count}>{count}</span>
            {end}
          </>
        )}
      </summary>
      {open && (
        <div className={classes.children}>
          {entries.slice(0, shown).map(([key, child]) => (
            <Node key={key} value={child} depth={depth + 1} {...(!isList && { name: key })} />
          ))}
          {entries.length > shown && (
            <button type="button" onClick={() => setShown(shown + shownStep)}>
              Show more of {count}
            </button>
          )}
        </div>
      )}
      {open && <div>{end}</div>}
    </details>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return <span className="soft">{JSON.stringify(name)}: </span>;
}
