import { Button, Loader } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EndedExecution } from '../../src/client/index.ts';
import type { RunState } from '../data/executions/start-execution.ts';
import { formatCost, formatDuration, formatWhole } from '../data/text/format.ts';
import { CodeBlock } from './code-block.tsx';
import classes from './execution-result.module.css';
import { FormProblem } from './form-error.tsx';
import { Figures } from './metric-list.tsx';
import { StatusBadge } from './status-badge.tsx';

/** Progress and result of an execution started on this page. */
export function RunResult({ run, cancel }: RunState) {
  if (run.isIdle) return null;
  return (
    <div className={classes.result} aria-live="polite" aria-busy={run.isPending}>
      {run.isPending && (
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
      {/* Hidden after the end: an execution that ended meanwhile cannot be canceled, and its result is shown instead. */}
      {run.isPending && <FormProblem error={cancel.error} />}
      <FormProblem error={run.error} />
      {run.data && !run.isPending && <Ended record={run.data} />}
    </div>
  );
}

function Ended({ record }: { readonly record: EndedExecution }) {
  const { agentId, executionId, status, inputTokens, outputTokens, costUSD, costKnown } = record;
  const figures: readonly (readonly [string, string])[] = [
    ['Latency', formatDuration(record.latencyMs)],
    ['Input tokens', formatWhole(inputTokens)],
    ['Output tokens', formatWhole(outputTokens)],
    ['Cost', costKnown ? formatCost(costUSD) : 'unknown'],
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
      <Figures figures={figures} narrow />
      {record.outputText !== undefined && <CodeBlock label="Output" code={record.outputText} />}
      {record.error !== undefined && (
        <p className={classes.error}>
          {record.error} <code>{record.errorCode}</code>
        </p>
      )}
    </>
  );
}
