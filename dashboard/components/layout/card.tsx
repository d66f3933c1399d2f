import { type ReactNode, useId } from 'react';
import classes from './card.module.css';

/** A titled section of a page. */
export function Card(props: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={classes.card} aria-labelledby={id}>
      <div className={classes.head}>
        <h2 id={id}>{props.title}</h2>
        {props.actions}
      </div>
      {props.children}
    </section>
  );
}

/** Label and value pairs, one per row. */
export function DescriptionList({
  items,
}: {
  readonly items: readonly (readonly [string, ReactNode])[];
}) {
  return (
    <dl className={classes.items}>
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
