import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icon.tsx';
import classes from './state.module.css';

/** Shown instead of an empty list: what the list is for and how to add to it. */
export function EmptyState(props: {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className={classes.state}>
      <span className={classes.mark}>
        <Icon name={props.icon ?? 'empty'} size={22} />
      </span>
      <h2>{props.title}</h2>
      {props.children && <div className={classes.text}>{props.children}</div>}
      {props.action}
    </div>
  );
}
