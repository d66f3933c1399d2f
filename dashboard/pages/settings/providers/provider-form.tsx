import type { Provider, ProviderInput } from '../../../../src/client/index.ts';
import { putProvider } from '../../../data/workspace/providers.ts';
import type { Field } from '../../../kit/fields.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { type ExtraTexts, initialExtras, ProviderExtras, readExtras } from './provider-extras.tsx';

type Kind = ProviderInput['kind'];

const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'google', label: 'Google Gemini' },
  { value: 'azure', label: 'Azure OpenAI' },
  { value: 'bedrock', label: 'Amazon Bedrock' },
  { value: 'ollama', label: 'Ollama' },
  { value: 'openai-compatible', label: 'OpenAI-compatible' },
];

const chainKinds: ReadonlySet<Kind> = new Set(['bedrock', 'google', 'azure']);

interface Values extends ExtraTexts {
  readonly kind: Kind;
  readonly name: string;
  readonly apiKey: string;
  readonly chain: boolean;
  readonly baseURL: string;
}

/** Creates or replaces a provider. The server never returns a credential, so it must be entered again. */
export function ProviderForm(props: {
  readonly provider: Provider | null;
  /** The name of a new provider, as its models have it. */
  readonly newName?: string;
  readonly onClose?: () => void;
}) {
  const { provider, newName = '', onClose } = props;
  return (
    <FormDialog
      title={provider ? `Edit ${provider.name}` : 'Add a provider'}
      submit={(values) => `Save ${nameOf(values)}`}
      onClose={onClose}
      action={putProvider}
      start={startOf(provider, newName)}
      input={inputOf}
      fields={({ values, change, error }) => [
        ...fieldsOf(provider, values),
        <ProviderExtras
          key="extras"
          {...{ provider, error }}
          kind={values.kind}
          texts={values}
          onChange={change}
        />,
        <p key="note" className="note">
          Saving does not contact the provider. Use <b>Test</b> in the list to check the credential.
        </p>,
      ]}
    />
  );
}

function startOf(provider: Provider | null, newName: string): Values {
  return {
    // The kind that a provider of this name most likely has.
    kind: provider?.kind ?? kinds.find(({ value }) => value === newName)?.value ?? 'openai',
    name: provider?.name ?? newName,
    ...{ apiKey: '', chain: provider?.auth === 'chain', baseURL: provider?.baseURL ?? '' },
    ...initialExtras(provider),
  };
}

function inputOf(values: Values): ProviderInput & { readonly name: string } {
  const { kind, apiKey, chain, baseURL } = values;
  const isChain = chain && chainKinds.has(kind);
  return {
    name: nameOf(values),
    kind,
    ...(isChain ? { auth: 'chain' } : apiKey && { apiKey }),
    baseURL: baseURL.trim() || null,
    ...readExtras(values, kind),
  };
}

const nameOf = ({ name, kind }: Values) => name.trim() || kind;

function fieldsOf(provider: Provider | null, { kind, chain }: Values): Field<Values>[] {
  const hasChain = chainKinds.has(kind);
  return [
    { name: 'kind', label: 'Type', options: kinds },
    provider === null && {
      name: 'name',
      label: 'Name',
      description: 'The prefix of its models, before the slash',
      placeholder: kind,
      maxLength: 64,
    },
    {
      name: 'apiKey',
      label: 'API key',
      as: 'password',
      description: provider?.hasApiKey
        ? 'Saving replaces the provider: enter the key again, or none is stored.'
        : 'Stored encrypted and never shown again.',
      autoComplete: 'off',
      maxLength: 4096,
      disabled: hasChain && chain,
    },
    hasChain && {
      name: 'chain',
      label: 'Use the server’s own cloud identity instead of a key',
      as: 'check',
      description: 'Only in workspaces that the operator names.',
    },
    {
      name: 'baseURL',
      label: 'Base URL',
      description:
        'Leave empty for the default. Required for Azure and OpenAI-compatible providers.',
      placeholder: 'https://',
      maxLength: 2000,
    },
  ];
}
