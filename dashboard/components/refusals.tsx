import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAgentNames } from '../data/agents/agent-names.ts';
import { keyRefusalsQuery, refusalsQuery } from '../data/agents/refusals.ts';
import { useKeyNames } from '../data/workspace/key-names.ts';
import { Dialog, DialogCloseButton } from '../kit/dialog.tsx';
import { List } from '../kit/list.tsx';
import { Time } from './figures/time.tsx';
import { Card } from './layout/card.tsx';
import type { Column } from './tables/data-table.tsx';

interface Refusal {
  readonly code: string;
  readonly count: number;
  readonly lastMessage: string;
  readonly lastAt: string;
}

type AgentRefusal = Refusal & { readonly apiKeyId: string };
type KeyRefusal = Refusal & { readonly agentId: string };

function columnsWith<Row extends Refusal>(
  header: string,
  cell: (row: Row) => ReactNode,
): readonly Column<Row>[] {
  return [
    { header, cell },
    {
      header: 'Code',
      cell: ({ code, lastMessage }) => (
        <>
          <code>{code}</code>
          <div className="small-note">{lastMessage}</div>
        </>
      ),
    },
    { header: 'Calls', align: 'right', cell: ({ count }) => count.toLocaleString() },
    {
      header: 'Last',
      hideBelow: 'sm',
      cell: ({ lastAt }) => <Time at={lastAt} relative />,
    },
  ];
}

const what =
  'Calls in the last 30 days that left no execution, and calls with a key that may not call. Messages leave out what the caller sent.';

/** The refused calls of an agent; nothing if there are none. */
export function AgentRefusals({ agentId }: { readonly agentId: string }) {
  const refusals = useQuery(refusalsQuery(agentId));
  if (!refusals.data || refusals.data.refusals.length === 0) return null;
  return (
    <Card title="Refused calls">
      <div className="stack">
        <p className="note">{what}</p>
        <List
          caption="Refused calls by code"
          query={refusals}
          rows={({ refusals: rows }) => rows}
          rowKey={({ apiKeyId, code }) => `${apiKeyId} ${code}`}
          columns={columnsWith<AgentRefusal>('Key', ({ apiKeyId }) => (
            <KeyName apiKeyId={apiKeyId} />
          ))}
          empty={null}
        />
      </div>
    </Card>
  );
}

function KeyName({ apiKeyId }: { readonly apiKeyId: string }) {
  return <bdi>{useKeyNames()?.get(apiKeyId) ?? apiKeyId}</bdi>;
}

/** The refused calls of a key. */
export function KeyRefusals(props: { readonly apiKeyId: string; readonly name: string }) {
  const refusals = useQuery(keyRefusalsQuery(props.apiKeyId));
  return (
    <Dialog width="large" title={`Refused calls of ${props.name}`}>
      <div className="stack">
        <List
          caption="Refused calls by code"
          query={refusals}
          rows={({ refusals: rows }) => rows}
          rowKey={({ agentId, code }) => `${agentId} ${code}`}
          columns={columnsWith<KeyRefusal>('Agent', ({ agentId }) => (
            <AgentLink agentId={agentId} />
          ))}
          intro={what}
          empty="No refused calls in the last 30 days."
        />
        <Group justify="flex-end">
          <DialogCloseButton>Close</DialogCloseButton>
        </Group>
      </div>
    </Dialog>
  );
}

function AgentLink({ agentId }: { readonly agentId: string }) {
  const name = useAgentNames([agentId])(agentId);
  return (
    <Link to="/agents/$agentId" params={{ agentId }} dir="auto">
      {name ?? agentId}
    </Link>
  );
}
