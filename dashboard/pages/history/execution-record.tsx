import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo } from 'react';
import { DescriptionList } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { MetricList } from '../../components/metric-list.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { Time } from '../../components/time.tsx';
import { type ExecutionDetail, isInProgress } from '../../data/executions/executions.ts';
import { useLiveText } from '../../data/executions/follow-execution.ts';
import { shortenDataUrls } from '../../data/executions/sent-files.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatExactCount } from '../../data/text/format.ts';
import { useKeyNames } from '../../data/workspace/key-names.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { Attempts } from './attempts.tsx';
import { costCell } from './columns.tsx';
import { FailureCard } from './failure-card.tsx';
import { indentJson } from './json-text.ts';
import { Output } from './output.tsx';
import classes from './record.module.css';
import { RecordActions } from './record-actions.tsx';
import { SentMessages } from './sent-messages.tsx';
import { Timings } from './timings.tsx';

/** All details of one execution. */
export function ExecutionRecord(props: {
  readonly execution: ExecutionDetail;
  /** Its stream has ended. */
  readonly onEnded: () => void;
  readonly onDeleted: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { execution, onEnded } = props;
  const { agentId, executionId } = execution;
  const liveText = useLiveText(agentId, executionId, isInProgress(execution), onEnded);
  const nameOf = useMemberNames();
  useEffect(() => {
    const ofList = document.title;
    document.title = `Execution of ${execution.agentName} · Cueline`;
    return () => {
      document.title = ofList;
    };
  }, [execution.agentName]);
  return (
    <article className={classes.record}>
      <header className={classes.head}>
        <div className={classes.title}>
          <StatusBadge status={execution.status} />
          <h2>
            <Link to="/agents/$agentId" params={{ agentId: execution.agentId }}>
              {execution.agentName}
            </Link>
          </h2>
        </div>
        <div className={classes.id}>
          <code>{execution.executionId}</code>
          <CopyButton text={execution.executionId} name="execution ID" />
        </div>
      </header>
      <RecordActions {...props} />
      <FailureCard execution={execution} />
      <MetricList metrics={metrics(execution)} />
      <Timings execution={execution} />
      <Attempts execution={execution} />
      {isInProgress(execution) && liveText !== '' && (
        <CodeBlock label="Output so far" code={liveText} />
      )}
      {execution.outputText !== undefined && (
        <Output text={execution.outputText} value={execution.outputJson} />
      )}
      {execution.status === 'success' && execution.outputText === undefined && (
        <p className={classes.notice}>The output is no longer stored.</p>
      )}
      <Bodies execution={execution} />
      <DescriptionList items={details(execution, nameOf)} />
    </article>
  );
}

function metrics(execution: ExecutionDetail): [string, ReactNode][] {
  return [
    [
      'Input tokens',
      execution.inputTokens === undefined ? null : formatExactCount(execution.inputTokens),
    ],
    [
      'Output tokens',
      execution.outputTokens === undefined ? null : formatExactCount(execution.outputTokens),
    ],
    ['Cost', costCell(execution)],
    ['Attempts', formatExactCount(execution.attempts)],
  ];
}

/** The variables and the rendered prompts. Bodies can be deleted before their record. */
function Bodies({ execution }: { readonly execution: ExecutionDetail }) {
  const { inputVariables: variables, messages, reasoningText, toolCalls } = execution;
  const { tools, toolChoice, settings } = execution;
  const given = useMemo(() => {
    const text = variables && stringify(variables);
    return text && shortenDataUrls(indentJson(text) ?? text);
  }, [variables]);
  if (given === undefined && messages === undefined) {
    return (
      <p className={classes.notice}>Variables and prompts are not stored, or no longer stored.</p>
    );
  }
  return (
    <>
      {given !== undefined && <CodeBlock label="Variables" code={given} />}
      <SentMessages execution={execution} />
      {tools && <CodeBlock label="Tools" code={JSON.stringify({ tools, toolChoice }, null, 2)} />}
      {settings && <CodeBlock label="Settings" code={JSON.stringify(settings, null, 2)} />}
      {toolCalls && <CodeBlock label="Calls of tools" code={JSON.stringify(toolCalls, null, 2)} />}
      {reasoningText !== undefined && <CodeBlock label="Reasoning" code={reasoningText} />}
      {execution.refusalText !== undefined && (
        <CodeBlock label="Refusal" code={execution.refusalText} />
      )}
    </>
  );
}

function details(
  execution: ExecutionDetail,
  nameOf: (userId: string | null) => string,
): [string, ReactNode][] {
  const some: [string, ReactNode | undefined][] = [
    ['Model', <code key="model">{execution.modelUsed}</code>],
    ['Temperature', execution.temperature],
    ['Version', <code key="version">{execution.promptVersionLabel}</code>],
    ['Accepted', <Time key="at" at={execution.executedAt} />],
    ['Ended', execution.completedAt && <Time key="end" at={execution.completedAt} />],
    ['Source of the cost', execution.costSource],
    ['Finish reason', execution.finishReason],
    ['Model that answered', execution.modelAnswered && <code>{execution.modelAnswered}</code>],
    ['Reasoning tokens', execution.reasoningTokens],
    ['Request at the provider', execution.providerRequestId],
    ['Settings not applied', execution.settingsNotApplied?.join(', ')],
    ['User', execution.user],
    ['Session', execution.session],
    ['Tags', execution.tags?.join(', ')],
    ...Object.entries(execution.metadata ?? {}).map(([name, value]): [string, ReactNode] => [
      `Metadata ${name}`,
      value,
    ]),
    ['Source', execution.source],
    ['Workflow', workflowRun(execution)],
    ['Key', execution.apiKeyId && <Key key="key" apiKeyId={execution.apiKeyId} />],
    [
      'Executed by',
      execution.executedBy && <ExecutedBy key="by" userId={execution.executedBy} nameOf={nameOf} />,
    ],
    ['IP address', execution.ipAddress],
    ['User agent', execution.userAgent],
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
function ExecutedBy(props: {
  readonly userId: string;
  readonly nameOf: (userId: string) => string;
}) {
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
