import { Checkbox, SimpleGrid, Stack } from '@mantine/core';
import type {
  EventEndpoint,
  EventEndpointInput,
  EventEndpointPatch,
} from '../../../../src/client/index.ts';
import { endpoints } from '../../../data/workspace/endpoints.ts';
import type { Field } from '../../../kit/fields.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { EndpointSecret } from './endpoint-secret.tsx';
import { alertEventTypes, type EventType, eventGroups, eventSentences } from './event-groups.ts';

/** Creates an endpoint and shows its secret, or changes one. */
export function EndpointForm({
  endpoint,
  eventTypes = ['execution.failed', 'workflow_run.failed', ...alertEventTypes],
}: {
  readonly endpoint: EventEndpoint | null;
  /** What a new one subscribes to at first. */
  readonly eventTypes?: EventType[];
}) {
  const start = endpoint ? settingsOf(endpoint) : newEndpoint(eventTypes);
  const form = { width: 'medium', start, incomplete } as const;
  if (endpoint === null)
    return (
      <FormDialog
        {...form}
        title="Add endpoint"
        submit="Add endpoint"
        action={endpoints.create()}
        input={(settings) => settings}
        fields={({ values, change }) => fieldsOf(values, change, null)}
        done={({ secret }) => <EndpointSecret secret={secret} />}
      />
    );
  return (
    <FormDialog
      {...form}
      title="Edit endpoint"
      submit="Save"
      action={endpoints.update(endpoint.endpointId)}
      input={changeOf}
      fields={({ values, change }) => fieldsOf(values, change, endpoint)}
    />
  );
}

interface Settings extends EventEndpointInput {
  readonly eventTypes: EventType[];
}

const incomplete = ({ eventTypes }: Settings) => eventTypes.length === 0;

function newEndpoint(eventTypes: EventType[]): Settings {
  return { url: '', eventTypes, agentIds: null, payload: 'thin', description: null };
}

function settingsOf(endpoint: EventEndpoint): Settings {
  const { url, eventTypes, agentIds, payload, format, description } = endpoint;
  return { url: url && '', eventTypes, agentIds, payload, format, description };
}

/** An empty URL keeps the one that the endpoint has: nobody reads it back. */
function changeOf({ url, ...others }: Settings): EventEndpointPatch {
  return { ...others, ...(url !== '' && { url }) };
}

function fieldsOf(
  { url, eventTypes }: Settings,
  change: (some: Partial<Settings>) => void,
  endpoint: EventEndpoint | null,
): readonly Field<Settings>[] {
  return [
    url !== null && {
      name: 'url',
      label: 'URL',
      as: 'url',
      placeholder: endpoint?.url ?? 'https://shop.example.com/events',
      description: endpoint ? 'Leave empty to keep it' : undefined,
      required: endpoint === null,
      maxLength: 2_000,
    },
    <EventTypesField
      key="types"
      chosen={eventTypes}
      onChange={(eventTypes) => change({ eventTypes })}
    />,
    {
      name: 'agentIds',
      label: 'Agents',
      as: 'agents',
      description: 'For events of executions and agents. Leave empty for all agents',
    },
    [
      {
        name: 'payload',
        label: 'Payload',
        description: 'Payload of execution events',
        options: [
          { value: 'thin', label: 'Without texts' },
          { value: 'full', label: 'With variables and output' },
        ],
      },
      {
        name: 'format',
        label: 'Format',
        description: 'Automatic: text for Slack and Teams',
        // By the URL.
        options: endpoint ? formats : [{ value: '', label: 'Automatic' }, ...formats],
        empty: undefined,
      },
    ],
    { name: 'description', label: 'Description', maxLength: 2_000, empty: null },
  ];
}

const formats = [
  { value: 'standard', label: 'JSON' },
  { value: 'slack', label: 'Slack message' },
];

function EventTypesField(props: {
  readonly chosen: readonly EventType[];
  readonly onChange: (chosen: EventType[]) => void;
}) {
  return (
    <Checkbox.Group
      label="Events"
      value={[...props.chosen]}
      onChange={(types) => props.onChange(types as EventType[])}
    >
      <Stack gap="xs" mt="xs">
        {eventGroups.map(({ label, types }) => (
          <SimpleGrid
            key={label}
            component="fieldset"
            cols={{ base: 1, xs: 2 }}
            verticalSpacing="xs"
            bd={0}
            p={0}
            m={0}
          >
            <legend className="small-note">{label}</legend>
            {types.map((type) => (
              <Checkbox
                key={type}
                value={type}
                label={type}
                description={eventSentences[type]}
                size="xs"
              />
            ))}
          </SimpleGrid>
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
