import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { DescriptionList } from '../../components/layout/card.tsx';
import { DataTable } from '../../components/tables/data-table.tsx';
import { type CheckedFile, checkFile } from '../../data/executions/batch-file.ts';
import { costPerLineQuery, uploadBatch } from '../../data/executions/batches.ts';
import { formatCost, formatExactCount } from '../../data/text/format.ts';
import { FormDialog } from '../../kit/form-dialog.tsx';

/** What a chosen file contains and may cost, before its lines run. */
export function NewBatch({ agent, file }: { readonly agent: Agent; readonly file: File }) {
  const checked = useCheckedFile(file, agent.requiredVariables);
  const valid = checked ? checked.lines - checked.invalid : 0;
  return (
    <FormDialog
      title="Run a file"
      width="medium"
      start={{}}
      input={() => file}
      action={uploadBatch(agent.agentId)}
      submit={checked?.refusal === null ? `Run ${counted(valid, 'line')}` : 'Run'}
      incomplete={() => checked?.refusal !== null || valid === 0}
      fields={() => [
        <Stack key="file" gap="md" aria-busy={checked === null}>
          <DescriptionList items={factsOf(agent, file, checked, <Cost {...{ agent, valid }} />)} />
          {checked?.refusal && (
            <p role="alert" className="bad-note">
              {checked.refusal}
            </p>
          )}
          {checked && checked.invalid > 0 && <Problems checked={checked} />}
        </Stack>,
      ]}
    />
  );
}

function useCheckedFile(file: File, required: readonly string[]): CheckedFile | null {
  const [checked, setChecked] = useState<CheckedFile | null>(null);
  useEffect(() => {
    const closed = new AbortController();
    const unreadable = { lines: 0, invalid: 0, problems: [], refusal: 'The file cannot be read.' };
    checkFile(file, required, closed.signal)
      .catch(() => unreadable)
      .then((result) => closed.signal.aborted || setChecked(result));
    return () => closed.abort();
  }, [file, required]);
  return checked;
}

type Fact = readonly [string, ReactNode];

function factsOf(agent: Agent, file: File, checked: CheckedFile | null, cost: ReactNode): Fact[] {
  const lines = checked ? formatExactCount(checked.lines) : 'Checking…';
  const { promptVersionLabel: version } = agent;
  if (checked?.refusal) return [['File', file.name]];
  return [
    ['File', file.name],
    [
      'Lines',
      <span key="lines" role="status">
        {lines}
      </span>,
    ],
    ...(checked && checked.invalid > 0
      ? [['Invalid', `${formatExactCount(checked.invalid)}, which do not run`] as const]
      : []),
    ['Version', version],
    ...(checked ? [['Estimated cost', cost] as const] : []),
  ];
}

function Cost({ agent, valid }: { readonly agent: Agent; readonly valid: number }) {
  const { agentId, promptVersionId, promptVersionLabel: version } = agent;
  const { data, isPending } = useQuery(costPerLineQuery(agentId, promptVersionId));
  if (isPending) return '…';
  if (!data) return `unknown: no execution of ${version} has a cost yet`;
  const { costUSD, executions } = data;
  const sample =
    executions === 1 ? 'as the last execution' : `the average of the last ${executions} executions`;
  return `about ${formatCost(valid * costUSD)}: ${formatCost(costUSD)} each, ${sample} of ${version}`;
}

function Problems({ checked: { problems, invalid } }: { readonly checked: CheckedFile }) {
  return (
    <>
      <DataTable
        caption="Invalid lines"
        columns={[
          { header: 'Line', align: 'right', cell: ({ line }) => formatExactCount(line) },
          { header: 'Problem', cell: ({ text }) => <span className="wide-text">{text}</span> },
        ]}
        rows={problems.slice(0, shownMax)}
        rowKey={({ line }) => String(line)}
      />
      {invalid > shownMax && (
        <p className="note">
          The first {shownMax} of {counted(invalid, 'invalid line')}. The results list all.
        </p>
      )}
    </>
  );
}

const shownMax = 8;

function counted(count: number, noun: string): string {
  return `${formatExactCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
