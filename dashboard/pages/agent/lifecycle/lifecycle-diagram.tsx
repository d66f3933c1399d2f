import { Fragment } from 'react';
import type { Agent } from '../../../../src/client/index.ts';
import classes from './lifecycle.module.css';
import { actionTexts, stagePath } from './lifecycle-actions.ts';

/** The four stages with the current one marked, and the transitions between them. */
export function LifecycleDiagram({ agent }: { readonly agent: Agent }) {
  return (
    <ol className={classes.path}>
      {stagePath.map(({ stage, meaning, onward }, index) => (
        <Fragment key={stage}>
          <li
            className={classes.stage}
            data-stage={stage}
            aria-current={stage === agent.status ? 'step' : undefined}
          >
            <span className="section-title">{stage}</span>
            <span className={classes.meaning}>{meaning}</span>
          </li>
          {onward && (
            <li className={classes.action} aria-hidden="true">
              <Arrow
                label={actionTexts[onward].verb}
                allowed={agent.allowedActions.includes(onward)}
              />
              {stagePath[index]?.back && <Back agent={agent} action={stagePath[index].back} />}
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
    <Arrow back label={actionTexts[action].verb} allowed={agent.allowedActions.includes(action)} />
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
