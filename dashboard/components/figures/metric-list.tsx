import type { ReactNode } from 'react';
import classes from './metric-list.module.css';

/** Key metrics side by side, each below its name. */
export function MetricList(props: {
  readonly metrics: readonly (readonly [string, ReactNode])[];
  /** For short values in narrow columns. */
  readonly narrow?: boolean;
}) {
  return (
    <dl className={classes.metrics} data-narrow={props.narrow || undefined}>
      {props.metrics.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
