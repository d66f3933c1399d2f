import type { ReactNode } from 'react';
import { Time } from '../../../components/figures/time.tsx';
import { useSeconds } from '../../../components/hooks/use-seconds.ts';
import { DescriptionList } from '../../../components/layout/card.tsx';
import { SetPrice } from '../../../components/models/set-price.tsx';
import { type ExecutionDetail, isInProgress } from '../../../data/executions/executions.ts';
import { formatDuration, formatExactCount } from '../../../data/text/format.ts';
import { lacksPrice } from '../../../data/workspace/prices.ts';
import { costCell, formatElapsed } from '../amounts.tsx';
import { Attempts } from './attempts.tsx';
import classes from './record.module.css';

/** Times, tokens, cost and attempts, one below the other. */
export function Figures({ execution }: { readonly execution: ExecutionDetail }) {
  const times = useTimes(execution);
  return (
    <section className={classes.part} aria-label="Figures">
      <DescriptionList items={shown([...times, ...tokens(execution), ...cost(execution)])} />
      <Attempts execution={execution} />
    </section>
  );
}

type Item = readonly [string, ReactNode];

export function shown(items: readonly Item[]): Item[] {
  return items.filter(([, value]) => value !== undefined && value !== null && value !== '');
}

/** While it is in progress, the viewer's clock counts, which may be wrong. A refused call was never queued. */
function useTimes(execution: ExecutionDetail): Item[] {
  const isRunning = isInProgress(execution);
  const nowMs = useSeconds(isRunning);
  const { queuedAt, startedAt, completedAt, latencyMs, firstTextMs } = execution;
  if (queuedAt === undefined) return [];
  const endMs = completedAt === undefined ? nowMs : Date.parse(completedAt);
  const startMs = startedAt === undefined ? endMs : Date.parse(startedAt);
  const queuedMs = Math.max(0, startMs - Date.parse(queuedAt));
  const runningMs = latencyMs ?? Math.max(0, endMs - startMs);
  const show = (ms: number) => (isRunning ? formatElapsed(ms) : formatDuration(ms));
  return [
    ['Queued', startedAt === undefined ? show(queuedMs) : formatDuration(queuedMs)],
    ['First text', firstTextMs !== undefined && formatDuration(firstTextMs)],
    [isRunning ? 'Running for' : 'Running', startedAt !== undefined && show(runningMs)],
    ['Total', show(queuedMs + (startedAt === undefined ? 0 : runningMs))],
  ].map(([name, value]) => [String(name), value || null]);
}

function tokens({
  inputTokens,
  outputTokens,
  reasoningTokens,
  tokensUsed,
}: ExecutionDetail): Item[] {
  const count = (value: number | undefined) => value !== undefined && formatExactCount(value);
  return [
    ['Input tokens', count(inputTokens) || null],
    ['Output tokens', count(outputTokens) || null],
    ['Reasoning tokens', count(reasoningTokens) || null],
    ['Tokens', count(tokensUsed) || null],
  ];
}

function cost(execution: ExecutionDetail): Item[] {
  return [
    ['Cost', costCell(execution)],
    ['Price', execution.costSource && <Price execution={execution} />],
  ];
}

const sources = {
  table: 'Price list',
  workspace: "The workspace's price",
  provider: 'Stated by the provider',
  unknown: 'Unknown',
} as const;

/** Where the price came from; the amounts of the workspace's own, which may be another one by now. */
function Price({ execution }: { readonly execution: ExecutionDetail }) {
  const { costSource = 'unknown', modelUsed, price } = execution;
  if (costSource === 'unknown' && lacksPrice({ ...execution, model: modelUsed })) {
    return <SetPrice model={modelUsed} />;
  }
  if (!price) return sources[costSource];
  return (
    <>
      ${price.inputPerMillion} in, ${price.outputPerMillion} out
      <span className={classes.unit}>
        per million tokens, {sources[costSource].toLowerCase()} since <Time at={price.validFrom} />
      </span>
    </>
  );
}
