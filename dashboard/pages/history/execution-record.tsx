import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo } from 'react';
import { Facts } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Figures } from '../../components/metric-list.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import type { ExecutionDetail } from '../../data/executions/executions.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatWhole } from '../../data/text/format.ts';
import { useKeyNames } from '../../data/workspace/key-names.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { costOf } from './columns.tsx';
import { Failure } from './failure-card.tsx';
import { indentJson } from './json-text.ts';
import { Output } from './output.tsx';
import classes from './record.module.css';
import { RecordActions } from './record-actions.tsx';
import { Timings } from './timings.tsx';

/** All that is known of one run. */
export function Record(props: {
  readonly run: ExecutionDetail;
  readonly onGone: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { run } = props;
  const nameOf = useMemberNames();
  useEffect(() => {
    const ofList = document.title;
    document.title = `Run of ${run.agentName} · Cueline`;
    return () => {
      document.title = ofList;
    };
  }, [run.agentName]);
  return (
    <article className={classes.record}>
      <header className={classes.head}>
        <div className={classes.title}>
          <StatusBadge status={run.status} />
          <h2>
            <Link to="/agents/$agentId" params={{ agentId: run.agentId }}>
              {run.agentName}
            </Link>
          </h2>
        </div>
        <div className={classes.id}>
          <code>{run.executionId}</code>
          <CopyButton text={run.executionId} what="the execution's identifier" />
        </div>
      </header>
      <RecordActions {...props} />
      <Failure run={run} />
      <Figures figures={figures(run)} />
      <Timings run={run} />
      {run.outputText !== undefined && <Output text={run.outputText} />}
      {run.status === 'success' && run.outputText === undefined && (
        <p className={classes.gone}>The output is not kept any more.</p>
      )}
      <Sent run={run} />
      <Facts facts={facts(run, nameOf)} />
    </article>
  );
}

function figures(run: ExecutionDetail): [string, ReactNode][] {
  return [
    ['Input tokens', run.inputTokens === undefined ? null : formatWhole(run.inputTokens)],
    ['Output tokens', run.outputTokens === undefined ? null : formatWhole(run.outputTokens)],
    ['Cost', costOf(run)],
    ['Attempts', formatWhole(run.attempts)],
  ];
}

/** What went in, and what the model was sent. Bodies can be gone before their record is. */
function Sent({ run }: { readonly run: ExecutionDetail }) {
  const { inputVariables: variables, systemPrompt, userPrompt } = run;
  const given = useMemo(() => {
    const text = variables && stringify(variables);
    return text && (indentJson(text) ?? text);
  }, [variables]);
  if (given === undefined && userPrompt === undefined) {
    return (
      <p className={classes.gone}>Variables and prompts are not kept any more, or never were.</p>
    );
  }
  return (
    <>
      {given !== undefined && <CodeBlock label="Variables" code={given} />}
      {systemPrompt !== undefined && (
        <CodeBlock label="System prompt, as sent" code={systemPrompt} />
      )}
      {userPrompt !== undefined && <CodeBlock label="User prompt, as sent" code={userPrompt} />}
    </>
  );
}

function facts(
  run: ExecutionDetail,
  nameOf: (userId: string | null) => string,
): [string, ReactNode][] {
  const some: [string, ReactNode | undefined][] = [
    ['Model', <code key="model">{run.modelUsed}</code>],
    ['Temperature', run.temperature],
    ['Version', <code key="version">{run.promptVersionLabel}</code>],
    ['Accepted', <Time key="at" at={run.executedAt} />],
    ['Ended', run.completedAt && <Time key="end" at={run.completedAt} />],
    ['Stopped because', run.finishReason],
    ['Source', run.source],
    ['Workflow', workflowRun(run)],
    ['Key', run.apiKeyId && <Key key="key" apiKeyId={run.apiKeyId} />],
    ['By', run.executedBy && <By key="by" userId={run.executedBy} nameOf={nameOf} />],
    ['Address', run.ipAddress],
    ['Client', run.userAgent],
  ];
  return some.filter(([, value]) => value !== undefined && value !== null);
}

/** The keys' own page shows no identifiers, and programs know nothing else. */
function Key({ apiKeyId }: { readonly apiKeyId: string }) {
  const name = useKeyNames()?.get(apiKeyId);
  return (
    <>
      {name}
      {name && <br />}
      <code>{apiKeyId}</code>
    </>
  );
}

/** Whoever has left has no name any more: the identifier still tells them apart. */
function By(props: { readonly userId: string; readonly nameOf: (userId: string) => string }) {
  return <span title={props.userId}>{props.nameOf(props.userId)}</span>;
}

/** The run that it was a step of, where that is still kept. */
function workflowRun({ workflowId, workflowRunId, stepName }: ExecutionDetail): ReactNode {
  if (workflowRunId === undefined) return undefined;
  if (workflowId === undefined) return `step ${stepName} of a run that is not kept any more`;
  return (
    <Link
      to="/workflows/$workflowId/runs/$workflowRunId"
      params={{ workflowId, workflowRunId }}
      search={stepName === undefined ? {} : { step: stepName }}
    >
      Step {stepName} of its run
    </Link>
  );
}
