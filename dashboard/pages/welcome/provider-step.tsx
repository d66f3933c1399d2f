import { Button, Group, NativeSelect, PasswordInput, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { FormError, fieldError } from '../../components/form-error.tsx';
import { TestProvider } from '../../components/test-provider.tsx';
import { providersQuery, usePutProvider } from '../../data/workspace/providers.ts';
import { Step } from './step.tsx';

/** Providers that need only a key; the others are in the settings. */
const kinds = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'google', label: 'Google Gemini' },
] as const;

export function ProviderStep() {
  const [kind, setKind] = useState<(typeof kinds)[number]['value']>('openai');
  const [apiKey, setApiKey] = useState('');
  const providers = useQuery(providersQuery);
  const put = usePutProvider();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    put.mutate({ name: kind, provider: { kind, apiKey } }, { onSuccess: () => setApiKey('') });
  };
  const stored = providers.data?.find(({ name }) => name === kind);
  return (
    <Step
      title="Add a provider key"
      description="Lets agents call the provider's models. The key is stored encrypted and never shown again."
      done={(providers.data ?? []).length > 0}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <NativeSelect
            label="Provider"
            data={kinds.map((one) => ({ ...one }))}
            value={kind}
            onChange={({ currentTarget }) => setKind(currentTarget.value as typeof kind)}
          />
          <PasswordInput
            label="API key"
            autoComplete="off"
            required
            withAsterisk={false}
            maxLength={4096}
            value={apiKey}
            error={fieldError(put.error, 'apiKey')}
            description={stored ? 'Replaces the stored key.' : undefined}
            onChange={({ currentTarget }) => setApiKey(currentTarget.value)}
          />
          <FormError error={put.error} />
          <Group gap="xs" align="flex-start">
            <Button type="submit" variant="default" loading={put.isPending}>
              Save key
            </Button>
            {stored && <TestProvider key={stored.updatedAt} name={stored.name} size="sm" />}
          </Group>
        </Stack>
      </form>
    </Step>
  );
}
