import { Fragment } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import classes from './lifecycle.module.css';
import { actionWords, stagePath } from './lifecycle-actions.ts';

/** The four stages with the current one marked, and the transitions between them. */
export function LifecyclePicture({ agent }: { readonly agent: Agent }) {
  return (
    <ol className={classes.path}>
      {stagePath.map(({ stage, meaning, onward }, place) => (
        <Fragment key={stage}>
          <li
            className={classes.stage}
            data-stage={stage}
            aria-current={stage === agent.status ? 'step' : undefined}
          >
            <span className={classes.name}>{stage}</span>
            <span className={classes.meaning}>{meaning}</span>
          </li>
          {onward && (
            <li className={classes.way} aria-hidden="true">
              <Arrow
                label={actionWords[onward].verb}
                allowed={agent.allowedActions.includes(onward)}
              />
              {stagePath[place]?.back && <Back agent={agent} action={stagePath[place].back} />}
            </li>
          )}
        </Fragment>
      ))}
    </ol>
  );
}

type Action = Agent['allowedActions'][number];

function Back({ agent, action }: { readonly agent: Agent; readonly action: Action }) {
  return (
    <Arrow back label={actionWords[action].verb} allowed={agent.allowedActions.includes(action)} />
  );
}

function Arrow(props: { readonly label: string; readonly allowed: boolean; readonly back?: true }) {
  return (
    <span
      className={classes.arrow}
      data-allowed={props.allowed || undefined}
      data-back={props.back}
    >
      <span>{props.label}</span>
    </span>
  );
}
