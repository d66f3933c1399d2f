import type { ReactNode } from 'react';
import classes from './metric-list.module.css';

/** What matters most of a run, side by side: a name above each. */
export function Figures(props: {
  readonly figures: readonly (readonly [string, ReactNode])[];
  /** Where there is little room, and all are short. */
  readonly narrow?: boolean;
}) {
  return (
    <dl className={classes.figures} data-narrow={props.narrow || undefined}>
      {props.figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
