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

/** All details of one execution. */
export function Record(props: {
  readonly run: ExecutionDetail;
  readonly onGone: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { run } = props;
  const nameOf = useMemberNames();
  useEffect(() => {
    const ofList = document.title;
    document.title = `Execution of ${run.agentName} · Cueline`;
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
          <CopyButton text={run.executionId} what="execution ID" />
        </div>
      </header>
      <RecordActions {...props} />
      <Failure run={run} />
      <Figures figures={figures(run)} />
      <Timings run={run} />
      {run.outputText !== undefined && <Output text={run.outputText} />}
      {run.status === 'success' && run.outputText === undefined && (
        <p className={classes.gone}>The output is no longer stored.</p>
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

/** The variables and the rendered prompts. Bodies can be deleted before their record. */
function Sent({ run }: { readonly run: ExecutionDetail }) {
  const { inputVariables: variables, systemPrompt, userPrompt } = run;
  const given = useMemo(() => {
    const text = variables && stringify(variables);
    return text && (indentJson(text) ?? text);
  }, [variables]);
  if (given === undefined && userPrompt === undefined) {
    return (
      <p className={classes.gone}>Variables and prompts are not stored, or no longer stored.</p>
    );
  }
  return (
    <>
      {given !== undefined && <CodeBlock label="Variables" code={given} />}
      {systemPrompt !== undefined && (
        <CodeBlock label="Rendered system prompt" code={systemPrompt} />
      )}
      {userPrompt !== undefined && <CodeBlock label="Rendered user prompt" code={userPrompt} />}
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
    ['Finish reason', run.finishReason],
    ['Source', run.source],
    ['Workflow', workflowRun(run)],
    ['Key', run.apiKeyId && <Key key="key" apiKeyId={run.apiKeyId} />],
    ['Executed by', run.executedBy && <By key="by" userId={run.executedBy} nameOf={nameOf} />],
    ['IP address', run.ipAddress],
    ['User agent', run.userAgent],
  ];
  return some.filter(([, value]) => value !== undefined && value !== null);
}

/** Shows the id too: programs know only that, and the API keys page does not show it. */
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

/** Former members have no name: the id in the tooltip distinguishes them. */
function By(props: { readonly userId: string; readonly nameOf: (userId: string) => string }) {
  return <span title={props.userId}>{props.nameOf(props.userId)}</span>;
}

/** A link to the workflow run, if it still exists. */
function workflowRun({ workflowId, workflowRunId, stepName }: ExecutionDetail): ReactNode {
  if (workflowRunId === undefined) return undefined;
  if (workflowId === undefined) return `Step ${stepName} of a deleted workflow run`;
  return (
    <Link
      to="/workflows/$workflowId/runs/$workflowRunId"
      params={{ workflowId, workflowRunId }}
      search={stepName === undefined ? {} : { step: stepName }}
    >
      Step {stepName} of workflow run
    </Link>
  );
}
