import { Button, Loader } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EndedExecution } from '../../../src/client/index.ts';
import type { ExecutionState } from '../../data/executions/start-execution.ts';
import { formatCost, formatDuration, formatExactCount } from '../../data/text/format.ts';
import { CodeBlock } from '../code/code-block.tsx';
import { MetricList } from '../figures/metric-list.tsx';
import { FormError } from '../states/form-error.tsx';
import { StatusBadge } from '../states/status-badge.tsx';
import classes from './execution-result.module.css';

/** Progress and result of an execution started on this page. */
export function ExecutionResult({ text, execution, cancel }: ExecutionState) {
  if (execution.isIdle) return null;
  return (
    <div className="stack-small" aria-live="polite" aria-busy={execution.isPending}>
      {execution.isPending && (
        <div className={classes.running}>
          <Loader size="xs" />
          <span>Running…</span>
          <Button
            size="xs"
            variant="default"
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            Cancel
          </Button>
        </div>
      )}
      {execution.isPending && text !== '' && <CodeBlock label="Output" code={text} />}
      {/* Hidden after the end: an execution that ended meanwhile cannot be canceled, and its result is shown instead. */}
      {execution.isPending && <FormError error={cancel.error} />}
      <FormError error={execution.error} />
      {execution.data && !execution.isPending && <Ended record={execution.data} />}
    </div>
  );
}

function Ended({ record }: { readonly record: EndedExecution }) {
  const { agentId, executionId, status, inputTokens, outputTokens, costUSD, costKnown } = record;
  const { firstTextMs, toolCallsMade = 0 } = record;
  const metrics: readonly (readonly [string, string])[] = [
    ['Latency', formatDuration(record.latencyMs)],
    ...(firstTextMs === undefined ? [] : [['First text', formatDuration(firstTextMs)] as const]),
    ...(toolCallsMade === 0 ? [] : [['Tool calls', formatExactCount(toolCallsMade)] as const]),
    ['Input tokens', formatExactCount(inputTokens)],
    ['Output tokens', formatExactCount(outputTokens)],
    ['Cost', costUSD !== undefined && costKnown ? formatCost(costUSD) : 'unknown'],
  ];
  return (
    <>
      <div className={classes.head}>
        <StatusBadge status={status} />
        <code>{record.promptVersionLabel}</code>
        <code>{record.modelUsed}</code>
        <Link to="/history/$agentId/$executionId" params={{ agentId, executionId }}>
          Record
        </Link>
      </div>
      <MetricList metrics={metrics} narrow />
      {record.outputText !== undefined && <CodeBlock label="Output" code={record.outputText} />}
      {record.error !== undefined && (
        <p className={classes.error} dir="auto">
          {record.error} <code>{record.errorCode}</code>
        </p>
      )}
    </>
  );
}
