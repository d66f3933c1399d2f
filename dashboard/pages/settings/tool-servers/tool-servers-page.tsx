import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ToolServerSummary } from '../../../../src/client/index.ts';
import { describeError } from '../../../components/states/error-state.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { queryClient } from '../../../data/client/query-client.ts';
import { announceFailure, announceSave } from '../../../data/client/saves.ts';
import {
  checkToolServer,
  isSigned,
  rotateToolServer,
  toolServers,
} from '../../../data/workspace/tool-servers.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { useAction } from '../../../kit/resource.ts';
import { RotateDialog } from '../../../kit/rotate-dialog.tsx';
import { RowMenu } from '../../../kit/row-menu.tsx';
import { ToolServerForm } from './tool-server-form.tsx';
import { ToolServerSecret } from './tool-server-secret.tsx';

/** The servers whose tools agents call. */
export function ToolServersPage() {
  return (
    <List
      caption="Tool servers"
      query={useQuery(toolServers.list())}
      rows={(all) => all}
      rowKey={({ toolServerId }) => toolServerId}
      columns={columns}
      actions={(server) => <ServerMenu server={server} />}
      intro="Requests are signed as in Standard Webhooks."
      add={
        <Button onClick={() => openDialog(<ToolServerForm server={null} />)}>
          Add tool server
        </Button>
      }
      empty={{
        icon: 'external',
        title: 'No tool servers yet',
        text: 'Agents call the tools of your servers between the turns of their model, each by a signed request. Versions of prompts name the tools.',
      }}
    />
  );
}

const columns: readonly Column<ToolServerSummary>[] = [
  {
    header: 'Name',
    cell: ({ name, url }) => (
      <>
        <code className="code">{name}</code>
        <div className="note wide-text">{url}</div>
      </>
    ),
  },
  {
    header: 'Tools',
    hideBelow: 'sm',
    cell: ({ toolNames: [first, ...others] }) => (
      <>
        {first === undefined ? '–' : <code className="code">{first}</code>}
        {others.length > 0 && <div className="note">and {others.length} more</div>}
      </>
    ),
  },
  {
    header: 'State',
    cell: ({ enabled, problem }) => (
      <>
        <StateBadge
          tone={enabled ? (problem === null ? 'good' : 'bad') : 'calm'}
          text={enabled ? (problem === null ? 'Enabled' : 'Unreachable') : 'Disabled'}
        />
        {problem !== null && <div className="note">{problem}</div>}
      </>
    ),
  },
];

function ServerMenu({ server }: { readonly server: ToolServerSummary }) {
  const { toolServerId, name, url, enabled } = server;
  const check = useAction(checkToolServer(toolServerId));
  const change = useAction(toolServers.update(toolServerId));
  const edit = async () => {
    const complete = await queryClient.fetchQuery(toolServers.get(toolServerId));
    openDialog(<ToolServerForm server={complete} />);
  };
  return (
    <RowMenu
      name={name}
      actions={[
        ['Edit', () => void edit().catch(onError)],
        ['Check', () => check.mutate(undefined, { onSuccess: announceCheck, onError })],
        [enabled ? 'Disable' : 'Enable', () => change.mutate({ enabled: !enabled }, { onError })],
        isSigned(url) && [
          'Rotate secret',
          () => openDialog(<RotateServer toolServerId={toolServerId} />),
        ],
        ['Delete', () => openDialog(<DeleteServer server={server} />), 'bad'],
      ]}
    />
  );
}

const onError = (error: unknown) => announceFailure(describeError(error).message);

const announceCheck = ({ problem }: Pick<ToolServerSummary, 'problem'>) =>
  problem === null ? announceSave('It answers') : announceFailure(problem);

function RotateServer({ toolServerId }: { readonly toolServerId: string }) {
  return (
    <RotateDialog
      title="Rotate secret"
      intro="Creates a new secret. During the grace period both secrets sign each request."
      withoutGrace="only the new secret signs"
      action={rotateToolServer(toolServerId)}
      done={(secret) => <ToolServerSecret secret={secret} />}
    />
  );
}

function DeleteServer({ server }: { readonly server: ToolServerSummary }) {
  return (
    <ConfirmDialog
      title={`Delete ${server.name}?`}
      confirm="Delete"
      action={toolServers.remove(server.toolServerId)}
    >
      Its tools cannot be called any more. This cannot be undone. Not possible while an agent pins a
      version with one of them.
    </ConfirmDialog>
  );
}
