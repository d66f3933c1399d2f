import { useQuery } from '@tanstack/react-query';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import { type ExecutionStep, stepsQuery } from '../../../data/executions/execution-steps.ts';
import type { ExecutionDetail } from '../../../data/executions/executions.ts';
import { formatDuration } from '../../../data/text/format.ts';
import { costCell } from '../amounts.tsx';
import classes from './timeline.module.css';

/** The turns of the model and the calls of tools, with how long each took. Nothing for an execution without calls. */
export function Timeline({ execution }: { readonly execution: ExecutionDetail }) {
  const { data: steps = [], error, refetch } = useQuery(stepsQuery(execution));
  if (steps.length === 0)
    return error && <ErrorState error={error} onRetry={() => void refetch()} />;
  const times = steps.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]);
  const known = times.flatMap((at) => (at === undefined ? [] : [Date.parse(at)]));
  const [from, to] = [Math.min(...known), Math.max(...known)];
  return (
    <section aria-label="Timeline">
      <h2 className={classes.head}>Timeline</h2>
      <ol className={classes.steps}>
        {steps.map((step, index) => (
          <Step key={step.toolCallId ?? `${step.turn} ${index}`} {...{ step, from, to }} />
        ))}
      </ol>
    </section>
  );
}

function Step(props: { readonly step: ExecutionStep; readonly from: number; readonly to: number }) {
  const { step } = props;
  const { kind, turn, state, text, result, isError, errorCode } = step;
  const given = step.usedArguments ?? step.arguments;
  const tone = kind === 'tool' && (isError ? 'bad' : tones[state]);
  const hasDetails = given !== undefined || result !== undefined || Boolean(text);
  const line = (
    <>
      <span className={classes.name}>
        {kind === 'model' ? `Turn ${turn}: ${step.modelUsed ?? 'model'}` : step.name}
      </span>
      {tone && <StateBadge tone={tone} text={errorCode ?? (isError ? 'error' : state)} />}
      <span className={classes.figures}>
        {durationOf(step)} {costCell(step)}
      </span>
      <Bar {...props} />
    </>
  );
  if (!hasDetails)
    return (
      <li data-kind={kind} data-tone={tone || undefined}>
        <div className={classes.line}>{line}</div>
      </li>
    );
  return (
    <li data-kind={kind} data-tone={tone || undefined}>
      <details>
        <summary className={classes.line}>{line}</summary>
        {text && <CodeBlock label="Text" code={text} />}
        {given !== undefined && (
          <CodeBlock label="Arguments" code={JSON.stringify(given, null, 2)} />
        )}
        {result !== undefined && <CodeBlock label={isError ? 'Error' : 'Result'} code={result} />}
      </details>
    </li>
  );
}

const tones = {
  ready: 'calm',
  dispatched: 'running',
  done: 'good',
  unknown: 'bad',
  canceled: 'calm',
} as const;

function durationOf({ startedAt, endedAt }: ExecutionStep): string {
  if (startedAt === undefined || endedAt === undefined) return '';
  return formatDuration(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)));
}

/** When it ran, within all steps. */
function Bar({
  step: { startedAt, endedAt },
  from,
  to,
}: {
  readonly step: ExecutionStep;
  readonly from: number;
  readonly to: number;
}) {
  if (startedAt === undefined || to <= from) return null;
  const start = Date.parse(startedAt);
  const end = endedAt === undefined ? to : Date.parse(endedAt);
  const share = (ms: number) => `${(100 * ms) / (to - from)}%`;
  const style = { marginInlineStart: share(start - from), width: share(Math.max(0, end - start)) };
  return (
    <span className={classes.track} aria-hidden>
      <span className={classes.bar} style={style} />
    </span>
  );
}
