import { Button, NativeSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ToolServer } from '../../../src/client/index.ts';
import { CodeBlock } from '../../components/code/code-block.tsx';
import { readExtras, withTool } from '../../data/prompts/version-extras.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { toolServers } from '../../data/workspace/tool-servers.ts';
import type { Draft } from './draft.ts';

/** Adds a tool of a server to a draft, and shows what the model will see of it. For owners: only they see the servers. */
export function ToolPicker(props: {
  readonly draft: Draft;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, onEdit } = props;
  const [serverId, setServerId] = useState('');
  const [toolName, setToolName] = useState('');
  const isOwner = can(useMe(), 'manage');
  const servers = useQuery({ ...toolServers.list(), enabled: isOwner });
  const server = useQuery({ ...toolServers.get(serverId), enabled: serverId !== '' });
  if (!servers.data || servers.data.length === 0) return null;
  const tool = server.data?.tools.find(({ name }) => name === toolName);
  const extras = readExtras(draft.extras);
  return (
    <Stack gap="xs" mt="sm">
      <div className="field-row">
        <NativeSelect
          label="Tool server"
          value={serverId}
          onChange={({ currentTarget }) => {
            setServerId(currentTarget.value);
            setToolName('');
          }}
          data={[
            { value: '', label: 'None' },
            ...servers.data.map(({ toolServerId, name }) => ({ value: toolServerId, label: name })),
          ]}
        />
        <NativeSelect
          label="Tool"
          value={toolName}
          disabled={!server.data}
          onChange={({ currentTarget }) => setToolName(currentTarget.value)}
          data={['', ...(server.data?.tools.map(({ name }) => name) ?? [])]}
        />
      </div>
      {tool && server.data && (
        <>
          <CodeBlock label="What the model sees" code={shown(tool)} />
          <p className="note">
            It is added to be called without an approval. Change it in the JSON above:{' '}
            <code>safe</code>, <code>bind</code>, <code>resultLimit</code>.
          </p>
          <Button
            variant="default"
            disabled={typeof extras === 'string'}
            onClick={() => {
              if (typeof extras === 'string' || !server.data) return;
              onEdit({ extras: withTool(extras, server.data.name, tool.name) });
            }}
          >
            Add {tool.name}
          </Button>
        </>
      )}
    </Stack>
  );
}

function shown({ name, description, inputSchema }: ToolServer['tools'][number]): string {
  return JSON.stringify({ name, description, parameters: inputSchema }, null, 2);
}
