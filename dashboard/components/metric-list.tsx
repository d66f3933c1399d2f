import type { ReactNode } from 'react';
import classes from './metric-list.module.css';

/** Key metrics side by side, each below its name. */
export function Figures(props: {
  readonly figures: readonly (readonly [string, ReactNode])[];
  /** For short values in narrow columns. */
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
