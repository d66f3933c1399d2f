import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './figure-tile.module.css';

/** Figures side by side in one frame. */
export function FigureTiles(props: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section className={classes.frame} aria-label={props.label}>
      <div className={classes.tiles}>{props.children}</div>
    </section>
  );
}

/** A figure with its name, the comparison with the previous period, and where it leads. */
export function FigureTile(props: {
  readonly name: string;
  /** The figure as a link to the list that it counts; undefined while it loads. */
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly more?: ReactNode;
}) {
  const { name, value, note, more } = props;
  return (
    <div className={classes.tile}>
      <h2>{name}</h2>
      <div className={classes.value}>{value ?? <Skeleton height={18} width="4rem" my={6} />}</div>
      <div className={classes.note}>{note}</div>
      {more && <div className={classes.more}>{more}</div>}
    </div>
  );
}
