import type { ToolServer, ToolServerInput } from '../../../../src/client/index.ts';
import { parseJsonObject } from '../../../data/text/json-object.ts';
import { toolServers } from '../../../data/workspace/tool-servers.ts';
import type { Field } from '../../../kit/fields.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { ToolServerSecret } from './tool-server-secret.tsx';

interface Values {
  readonly name: string;
  readonly url: string;
  /** JSON. Empty: as they are. */
  readonly headers: string;
  readonly timeoutMs: number;
  readonly maxConcurrency: number;
  /** JSON: `{"tools": […]}`. */
  readonly tools: string;
}

const example = {
  tools: [
    {
      name: 'lookup',
      description: 'Finds an order by its number.',
      inputSchema: {
        type: 'object',
        properties: { orderId: { type: 'string' } },
        required: ['orderId'],
      },
      path: '/orders/lookup',
    },
  ],
};

/** Creates a tool server and shows its secret if it has one, or changes one. */
export function ToolServerForm({ server }: { readonly server: ToolServer | null }) {
  const form = { width: 'medium', start: startOf(server), fields: () => fieldsOf(server) } as const;
  if (server === null)
    return (
      <FormDialog
        {...form}
        title="Add tool server"
        submit="Add tool server"
        action={toolServers.create()}
        input={(values): ToolServerInput => ({ ...inputOf(values), kind: 'http' })}
        done={({ signingSecret: secret }) => secret && <ToolServerSecret secret={secret} />}
      />
    );
  return (
    <FormDialog
      {...form}
      title={`Edit ${server.name}`}
      submit="Save"
      action={toolServers.update(server.toolServerId)}
      input={inputOf}
    />
  );
}

function startOf(server: ToolServer | null): Values {
  const { name = '', url = '', timeoutMs = 30_000, maxConcurrency = 20 } = server ?? {};
  const tools = server?.tools.map(({ digest: _, state: __, ...tool }) => tool);
  const text = JSON.stringify(tools ? { tools } : example, null, 2);
  return { ...{ name, url: url ?? '', headers: '', timeoutMs, maxConcurrency }, tools: text };
}

/** Throws for a text that is not JSON. What it contains is checked by the server. */
function inputOf({ headers, tools, ...values }: Values): Omit<ToolServerInput, 'kind'> {
  const given = { headers: parseJsonObject(headers || '{}'), tools: parseJsonObject(tools) };
  if (given.headers === null) throw new Error('The headers are not a JSON object.');
  if (!Array.isArray(given.tools?.tools)) throw new Error('The tools are not {"tools": […]}.');
  return {
    ...values,
    ...(headers.trim() !== '' && { headers: given.headers as Record<string, string> }),
    tools: given.tools.tools,
  };
}

function fieldsOf(server: ToolServer | null): readonly Field<Values>[] {
  const stored = server?.headerNames.join(', ') ?? '';
  return [
    {
      ...{ name: 'name', label: 'Name', required: true, maxLength: 64, placeholder: 'crm' },
      description: 'Versions of prompts name it: lower-case letters, digits, - and _',
    },
    {
      ...{ name: 'url', label: 'URL', as: 'url', required: true, maxLength: 2_000 },
      placeholder: 'https://crm.example.com/tools',
      description: 'To try tools without a server: cueline:echo answers with the arguments',
    },
    {
      ...{ name: 'headers', label: 'Headers of each request', as: 'lines' },
      placeholder: '{"Authorization": "Bearer …"}',
      description:
        stored === ''
          ? 'As JSON. Stored encrypted and never shown again.'
          : `Leave empty to keep ${stored}. As JSON, they replace all of them.`,
    },
    [
      { ...{ name: 'timeoutMs', label: 'Timeout in ms', as: 'number' }, min: 1_000, max: 300_000 },
      { ...{ name: 'maxConcurrency', label: 'Requests at once', as: 'number' }, min: 1, max: 200 },
    ],
    { name: 'tools', label: 'Tools', as: 'json' },
  ];
}
