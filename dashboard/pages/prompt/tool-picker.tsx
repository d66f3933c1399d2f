import { Button, NativeSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedTool } from '../../../src/client/index.ts';
import { CodeBlock } from '../../components/code/code-block.tsx';
import { hasTool, readExtras, withTool } from '../../data/prompts/version-extras.ts';
import { tools } from '../../data/workspace/tool-servers.ts';
import type { Draft } from './draft.ts';

/** Adds a tool of a server to a draft, and shows what the model will see of it. */
export function ToolPicker(props: {
  readonly draft: Draft;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, onEdit } = props;
  const [server, setServer] = useState('');
  const [toolName, setToolName] = useState('');
  const { data: named = [] } = useQuery(tools.list({}));
  const { data: defined = [] } = useQuery({ ...tools.list({ server }), enabled: server !== '' });
  if (named.length === 0) return null;
  const tool = defined.find((one) => one.tool === toolName);
  const extras = readExtras(draft.extras);
  const isAdded = typeof extras === 'object' && hasTool(extras, server, toolName);
  return (
    <Stack gap="xs" mt="sm">
      <div className="field-row">
        <NativeSelect
          label="Tool server"
          value={server}
          onChange={({ currentTarget }) => {
            setServer(currentTarget.value);
            setToolName('');
          }}
          data={[{ value: '', label: 'None' }, ...new Set(named.map((one) => one.server))]}
        />
        <NativeSelect
          label="Tool"
          value={toolName}
          disabled={server === ''}
          onChange={({ currentTarget }) => setToolName(currentTarget.value)}
          data={['', ...named.flatMap((one) => (one.server === server ? [one.tool] : []))]}
        />
      </div>
      {tool && (
        <>
          <CodeBlock label="What the model sees" code={shown(tool)} />
          <p className="note">
            The model calls it without asking a person. The JSON above also takes <code>safe</code>,{' '}
            <code>bind</code> and <code>resultLimit</code>.
          </p>
          <Button
            variant="default"
            disabled={typeof extras === 'string' || isAdded}
            onClick={() => {
              if (typeof extras === 'object')
                onEdit({ extras: withTool(extras, server, tool.tool) });
            }}
          >
            {isAdded ? `${tool.tool} is added` : `Add ${tool.tool}`}
          </Button>
        </>
      )}
    </Stack>
  );
}

function shown({ tool: name, description, inputSchema }: ListedTool): string {
  return JSON.stringify({ name, description, parameters: inputSchema }, null, 2);
}
