import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Time } from '../../../components/figures/time.tsx';
import { DescriptionList } from '../../../components/layout/card.tsx';
import { type ExecutionDetail, sourceText } from '../../../data/executions/executions.ts';
import { useKeyNames } from '../../../data/workspace/key-names.ts';
import { useMemberNames } from '../../../data/workspace/member-names.ts';
import type { HistorySearch } from '../search.ts';
import { shown } from './figures.tsx';
import classes from './record.module.css';

/** What was executed, by whom and for whom. */
export function Provenance({ execution }: { readonly execution: ExecutionDetail }) {
  const nameOf = useMemberNames();
  const { apiKeyId, batchId, executedBy } = execution;
  return (
    <>
      <section className={classes.part} aria-label="Model">
        <DescriptionList items={shown(modelItems(execution))} />
      </section>
      <section className={classes.part} aria-label="Caller">
        <DescriptionList
          items={shown([
            ['Source', sourceText(execution)],
            ['Workflow', workflowRun(execution)],
            [
              'Batch',
              batchId && <Batch key="batch" agentId={execution.agentId} batchId={batchId} />,
            ],
            ['Key', apiKeyId && <Key apiKeyId={apiKeyId} />],
            [
              'Executed by',
              executedBy && (
                // Former members have no name: the id in the tooltip distinguishes them.
                <span title={executedBy}>{nameOf(executedBy)}</span>
              ),
            ],
            ['IP address', execution.ipAddress],
            ['User agent', execution.userAgent],
            ...forWhom(execution),
          ])}
        />
      </section>
    </>
  );
}

type Item = readonly [string, ReactNode];

function modelItems(execution: ExecutionDetail): Item[] {
  return [
    [
      'Agent',
      <Link key="agent" to="/agents/$agentId" params={{ agentId: execution.agentId }}>
        {execution.agentName}
      </Link>,
    ],
    ['Version', <code key="version">{execution.promptVersionLabel}</code>],
    ['Model', <code key="model">{execution.modelUsed}</code>],
    ['Model that answered', execution.modelAnswered && <code>{execution.modelAnswered}</code>],
    ['Temperature', execution.temperature],
    ['Finish reason', execution.finishReason],
    ["Provider's finish reason", execution.providerFinishReason],
    ['Max tokens applied', execution.settingsApplied?.maxTokens],
    ['Settings not applied', execution.settingsNotApplied?.join(', ')],
    ['Provider request ID', execution.providerRequestId],
    ['Accepted', <Time key="at" at={execution.executedAt} />],
    ['Ended', execution.completedAt && <Time key="end" at={execution.completedAt} />],
  ];
}

/** Each leads to the executions with the same value. */
function forWhom({ user, session, tags = [], metadata = {} }: ExecutionDetail): Item[] {
  const link = (filter: HistorySearch, text: string) => (
    <Link to="/history" search={filter}>
      {text}
    </Link>
  );
  return [
    [
      'User',
      user && (
        <Link key="user" to="/user" search={{ user }}>
          {user}
        </Link>
      ),
    ],
    [
      'Session',
      session && (
        <Link key="session" to="/session" search={{ session }}>
          {session}
        </Link>
      ),
    ],
    [
      'Tags',
      tags.length > 0 ? (
        <span className={classes.tags}>
          {tags.map((tag) => (
            <span key={tag}>{link({ tag }, tag)}</span>
          ))}
        </span>
      ) : null,
    ],
    ...Object.entries(metadata).map(
      ([name, value]): Item => [`Metadata ${name}`, link({ [`metadata.${name}`]: value }, value)],
    ),
  ];
}

/** Leads to the batches of the agent, and to the executions of this one. */
function Batch(props: { readonly agentId: string; readonly batchId: string }) {
  const { agentId, batchId } = props;
  return (
    <>
      <Link to="/agents/$agentId/batches" params={{ agentId }}>
        <code>{batchId}</code>
      </Link>
      <br />
      <Link to="/history" search={{ batchId }}>
        Executions of the batch
      </Link>
    </>
  );
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
