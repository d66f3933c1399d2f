import { Checkbox, NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Provider, ProviderInput } from '../../../../src/client/index.ts';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { usePutProvider } from '../../../data/workspace/providers.ts';
import classes from '../settings.module.css';
import { initialExtras, ProviderExtras, readExtras } from './provider-extras.tsx';

const kinds: readonly { readonly value: ProviderInput['kind']; readonly label: string }[] = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'google', label: 'Google Gemini' },
  { value: 'azure', label: 'Azure OpenAI' },
  { value: 'bedrock', label: 'Amazon Bedrock' },
  { value: 'ollama', label: 'Ollama' },
  { value: 'openai-compatible', label: 'OpenAI-compatible' },
];

const chainKinds: ReadonlySet<ProviderInput['kind']> = new Set(['bedrock', 'google', 'azure']);

/** Creates or replaces a provider. The server never returns a credential, so it must be entered again. */
export function ProviderForm(props: {
  readonly provider: Provider | null;
  /** The name of a new provider, as its models have it. */
  readonly newName?: string;
  readonly onClose: () => void;
}) {
  const { provider, newName = '', onClose } = props;
  const [kind, setKind] = useState(provider?.kind ?? kindNamed(newName));
  const [typedName, setName] = useState(provider?.name ?? newName);
  const [baseURL, setBaseURL] = useState(provider?.baseURL ?? '');
  const [apiKey, setApiKey] = useState('');
  const [chain, setChain] = useState(provider?.auth === 'chain');
  const [extras, setExtras] = useState(() => initialExtras(provider));
  const [invalidExtras, setInvalidExtras] = useState<Error | null>(null);
  const put = usePutProvider();
  const name = provider?.name ?? (typedName.trim() || kind);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const credential =
      chain && chainKinds.has(kind) ? { auth: 'chain' as const } : apiKey && { apiKey };
    const base = { kind, ...credential, baseURL: baseURL.trim() || null };
    try {
      const input = { ...base, ...readExtras(extras, kind) };
      setInvalidExtras(null);
      put.mutate({ name, provider: input }, { onSuccess: onClose });
    } catch (error) {
      setInvalidExtras(error as Error);
    }
  };
  const title = provider ? `Edit ${provider.name}` : 'Add a provider';
  return (
    <Dialog title={title} locked={put.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <NativeSelect
            label="Type"
            data={[...kinds]}
            value={kind}
            onChange={({ currentTarget }) => setKind(currentTarget.value as ProviderInput['kind'])}
          />
          {!provider && (
            <TextInput
              label="Name"
              description="The prefix of its models, before the slash"
              placeholder={kind}
              maxLength={64}
              value={typedName}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
          <CredentialFields
            kind={kind}
            provider={provider}
            apiKey={apiKey}
            chain={chain}
            error={put.error}
            onApiKey={setApiKey}
            onChain={setChain}
          />
          <TextInput
            label="Base URL"
            description="Leave empty for the default. Required for Azure and OpenAI-compatible providers."
            placeholder="https://"
            maxLength={2000}
            value={baseURL}
            error={fieldError(put.error, 'baseURL')}
            onChange={({ currentTarget }) => setBaseURL(currentTarget.value)}
          />
          <ProviderExtras
            provider={provider}
            kind={kind}
            texts={extras}
            error={put.error}
            onChange={setExtras}
          />
          <p className={classes.muted}>
            Saving does not contact the provider. Use <b>Test</b> in the list to check the
            credential.
          </p>
          <FormError error={invalidExtras ?? put.error} />
          <DialogActions submit={`Save ${name}`} pending={put.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** The kind that a provider of this name most likely has. */
function kindNamed(name: string): ProviderInput['kind'] {
  return kinds.find(({ value }) => value === name)?.value ?? 'openai';
}

function CredentialFields(props: {
  readonly kind: ProviderInput['kind'];
  readonly provider: Provider | null;
  readonly apiKey: string;
  readonly chain: boolean;
  readonly error: unknown;
  readonly onApiKey: (apiKey: string) => void;
  readonly onChain: (chain: boolean) => void;
}) {
  const { kind, provider, apiKey, chain, error, onApiKey, onChain } = props;
  const hasChain = chainKinds.has(kind);
  return (
    <>
      <PasswordInput
        label="API key"
        description={
          provider?.hasApiKey
            ? 'Saving replaces the provider: enter the key again, or none is stored.'
            : 'Stored encrypted and never shown again.'
        }
        autoComplete="off"
        maxLength={4096}
        disabled={hasChain && chain}
        value={apiKey}
        error={fieldError(error, 'apiKey')}
        onChange={({ currentTarget }) => onApiKey(currentTarget.value)}
      />
      {hasChain && (
        <Checkbox
          label="Use the server’s own cloud identity instead of a key"
          description="Only in workspaces that the operator names."
          checked={chain}
          onChange={({ currentTarget }) => onChain(currentTarget.checked)}
        />
      )}
    </>
  );
}
