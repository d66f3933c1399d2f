import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { Card, DescriptionList } from '../../../components/layout/card.tsx';
import { stringify } from '../../../data/text/exact-json.ts';
import type { WorkflowStep } from '../../../data/workflows/workflows.ts';
import classes from '../workflow.module.css';

/** The definition of one step. */
export function StepCard(props: {
  readonly step: WorkflowStep;
  /** The names of the steps that it waits for. */
  readonly dependencies: readonly string[];
  readonly nameOf: (agentId: string) => string | undefined;
}) {
  const { step, dependencies } = props;
  const agent = (agentId: string) => (
    <Link to="/agents/$agentId" params={{ agentId }}>
      {props.nameOf(agentId) ?? agentId}
    </Link>
  );
  const { when, forEach, fallback, onFailure, onUnreadable } = step;
  const facts: (readonly [string, ReactNode])[] = [
    ['Agent', agent(step.agentId)],
    ['Depends on', dependencies.length === 0 ? 'nothing' : dependencies.join(', ')],
  ];
  if (when !== null) facts.push(['Condition', <code key="when">{when}</code>]);
  if (forEach) {
    const list = typeof forEach.list === 'string' ? forEach.list : stringify(forEach.list);
    facts.push(
      ['For each item of', <code key="list">{list}</code>],
      ['Concurrency', `${forEach.concurrency}, at most ${forEach.max} items`],
    );
  }
  if (fallback) {
    const takesOver = fallback.agentId ? agent(fallback.agentId) : 'a fixed output';
    facts.push(['Fallback', takesOver]);
  }
  facts.push([
    fallback ? 'If the fallback fails' : 'If it fails',
    onFailure === 'fail'
      ? 'the workflow run fails'
      : 'the workflow run continues without its output',
  ]);
  if (onUnreadable === 'null') facts.push(['If its output is not JSON', 'values in it are null']);
  return (
    <Card title={step.name}>
      <DescriptionList items={facts} />
      <div className={classes.blocks}>
        <CodeBlock label="Variables" code={stringify(step.variables, 2)} />
        {fallback?.variables && (
          <CodeBlock label="Fallback variables" code={stringify(fallback.variables, 2)} />
        )}
        {fallback && !fallback.agentId && (
          <CodeBlock label="Fallback output" code={stringify(fallback.output, 2)} />
        )}
      </div>
    </Card>
  );
}
