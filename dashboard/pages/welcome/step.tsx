import type { ReactNode } from 'react';
import { Icon } from '../../components/icon.tsx';
import classes from './welcome.module.css';

export function Step(props: {
  readonly title: string;
  readonly description: ReactNode;
  readonly done: boolean;
  readonly children: ReactNode;
}) {
  return (
    <li className={classes.step} data-done={props.done || undefined}>
      <div>
        <h2>
          {props.title}
          {props.done && (
            <span className={classes.done}>
              <Icon name="check" size={14} /> Done
            </span>
          )}
        </h2>
        <p>{props.description}</p>
      </div>
      <div>{props.children}</div>
    </li>
  );
}
