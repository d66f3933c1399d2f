import { Checkbox, Group, NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type {
  EventEndpoint,
  EventEndpointInput,
  EventEndpointPatch,
} from '../../../../src/client/index.ts';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { AgentsField } from '../../../components/fields/agents-field.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { useChangeEndpoint, useCreateEndpoint } from '../../../data/workspace/endpoints.ts';
import { EndpointSecret } from './endpoint-secret.tsx';
import { type EventType, eventGroups } from './event-groups.ts';

/** Creates an endpoint and shows its secret, or changes one. */
export function EndpointForm(props: {
  /** Null for a new one. */
  readonly endpoint: EventEndpoint | null;
  readonly onClose: () => void;
}) {
  const { endpoint, onClose } = props;
  const [settings, setSettings] = useState<EventEndpointInput>(() => settingsOf(endpoint));
  const create = useCreateEndpoint();
  const change = useChangeEndpoint(endpoint?.endpointId ?? '');
  const save = endpoint === null ? create : change;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (endpoint === null) create.mutate(settings);
    else change.mutate(changeOf(settings), { onSuccess: onClose });
  };
  if (create.data) return <EndpointSecret secret={create.data.secret} onClose={onClose} />;
  return (
    <Dialog
      title={endpoint === null ? 'Add endpoint' : 'Edit endpoint'}
      size="lg"
      locked={save.isPending}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <EndpointFields
            settings={settings}
            isNew={endpoint === null}
            shownURL={endpoint?.url ?? null}
            error={save.error}
            onChange={(some) => setSettings({ ...settings, ...some })}
          />
          <FormError error={save.error} />
          <DialogActions
            submit={endpoint === null ? 'Add endpoint' : 'Save'}
            pending={save.isPending}
            disabled={settings.eventTypes.length === 0}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function settingsOf(endpoint: EventEndpoint | null): EventEndpointInput {
  if (endpoint === null) {
    return {
      ...{ url: '', eventTypes: ['execution.failed', 'workflow_run.failed'] },
      ...{ agentIds: null, payload: 'thin', description: null },
    };
  }
  const { url, eventTypes, agentIds, payload, format, description } = endpoint;
  return { url: url && '', eventTypes, agentIds, payload, format, description };
}

/** An empty URL keeps the one that the endpoint has: nobody reads it back. */
function changeOf({ url, ...others }: EventEndpointInput): EventEndpointPatch {
  return { ...others, ...(url !== '' && { url }) };
}

function EndpointFields(props: {
  readonly settings: EventEndpointInput;
  readonly isNew: boolean;
  /** What is shown of the URL that it has. */
  readonly shownURL: string | null;
  readonly error: unknown;
  readonly onChange: (some: Partial<EventEndpointInput>) => void;
}) {
  const { settings, error, onChange } = props;
  const { url, agentIds, payload, format, description } = settings;
  return (
    <>
      {url !== null && (
        <TextInput
          label="URL"
          type="url"
          placeholder={props.shownURL ?? 'https://shop.example.com/events'}
          description={props.isNew ? undefined : 'Leave empty to keep it'}
          required={props.isNew}
          withAsterisk={false}
          data-autofocus
          maxLength={2_000}
          value={url}
          error={fieldError(error, 'url')}
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
        />
      )}
      <EventTypesField
        chosen={settings.eventTypes}
        onChange={(eventTypes) => onChange({ eventTypes })}
      />
      <AgentsField
        description="For events of executions and agents. Leave empty for all agents"
        chosen={agentIds ?? []}
        onChange={(ids) => onChange({ agentIds: ids.length === 0 ? null : ids })}
      />
      <Group grow align="flex-start">
        <NativeSelect
          label="Payload"
          description="Payload of execution events"
          data={payloads}
          value={payload}
          onChange={({ currentTarget }) =>
            onChange({ payload: currentTarget.value as 'thin' | 'full' })
          }
        />
        <NativeSelect
          label="Format"
          description="Automatic: text for Slack and Teams"
          data={props.isNew ? [automatic, ...formats] : formats}
          value={format ?? automatic.value}
          onChange={({ currentTarget: { value } }) =>
            onChange({ format: value === automatic.value ? undefined : (value as Format) })
          }
        />
      </Group>
      <TextInput
        label="Description"
        maxLength={2_000}
        value={description ?? ''}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value || null })}
      />
    </>
  );
}

const payloads = [
  { value: 'thin', label: 'Without texts' },
  { value: 'full', label: 'With variables and output' },
];
type Format = NonNullable<EventEndpointInput['format']>;
/** By the URL. */
const automatic = { value: '', label: 'Automatic' };
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
            cols={{ base: 1, xs: 2, sm: 3 }}
            verticalSpacing="xs"
            bd={0}
            p={0}
            m={0}
          >
            <legend className="visually-hidden">{label}</legend>
            {types.map((type) => (
              <Checkbox key={type} value={type} label={type} size="xs" />
            ))}
          </SimpleGrid>
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
