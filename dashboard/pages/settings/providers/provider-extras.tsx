import { Textarea, TextInput } from '@mantine/core';
import type { Provider, ProviderInput } from '../../../../src/client/index.ts';
import { fieldError } from '../../../components/states/form-error.tsx';
import classes from '../settings.module.css';

/** The typed texts of what is sent beyond the kind's own requests. */
export interface ExtraTexts {
  readonly headers: string;
  readonly query: string;
  readonly bodyExtra: string;
  readonly organization: string;
  readonly project: string;
}

export function initialExtras(provider: Provider | null): ExtraTexts {
  const { organization, project } = provider ?? {};
  return {
    ...{ headers: '', query: '', bodyExtra: '' },
    ...{ organization: organization ?? '', project: project ?? '' },
  };
}

/** Throws an `Error` with a message for the user if a text cannot be read. */
export function readExtras(texts: ExtraTexts, kind: ProviderInput['kind']): Partial<ProviderInput> {
  const headers = readLines(texts.headers, ':', 'header');
  const query = readLines(texts.query, '=', 'query parameter');
  const bodyExtra = readObject(texts.bodyExtra);
  const hasOwner = ownerKinds.has(kind);
  const hasProject = hasOwner || kind === 'google';
  return {
    ...(headers && { headers }),
    ...(query && { query }),
    ...(bodyExtra && { bodyExtra }),
    ...(hasOwner && texts.organization && { organization: texts.organization.trim() }),
    ...(hasProject && texts.project && { project: texts.project.trim() }),
  };
}

const ownerKinds: ReadonlySet<ProviderInput['kind']> = new Set([
  'openai',
  'azure',
  'openai-compatible',
]);

function readLines(text: string, separator: string, what: string): Record<string, string> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => {
    const at = line.indexOf(separator);
    if (at < 1) throw new Error(`Each ${what} must be on a line, as name${separator} value.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

function readObject(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The fields of the body are not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('The fields of the body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

export function ProviderExtras(props: {
  readonly provider: Provider | null;
  readonly kind: ProviderInput['kind'];
  readonly texts: ExtraTexts;
  readonly error: unknown;
  readonly onChange: (texts: ExtraTexts) => void;
}) {
  const { provider, kind, texts, error, onChange } = props;
  const { headerNames = [], queryNames = [], bodyExtraNames = [] } = provider ?? {};
  const stored = [...headerNames, ...queryNames, ...bodyExtraNames];
  const field = (name: keyof ExtraTexts) => ({
    value: texts[name],
    error: fieldError(error, name),
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ ...texts, [name]: currentTarget.value }),
  });
  return (
    <details>
      <summary>More request settings</summary>
      <p className={classes.muted}>
        For gateways, proxies and settings of the provider. Stored encrypted and never shown again.
        {stored.length > 0 && ` Enter ${stored.join(', ')} again, or none is stored.`}
      </p>
      <Textarea label="Headers" placeholder="x-gateway-key: value" autosize {...field('headers')} />
      <Textarea
        label="Query parameters"
        placeholder="api-version=2024-10-21"
        autosize
        {...field('query')}
      />
      <Textarea
        label="Fields of the body (JSON)"
        placeholder='{"keep_alive": "10m"}'
        autosize
        {...field('bodyExtra')}
      />
      {ownerKinds.has(kind) && (
        <TextInput label="Organization" maxLength={200} {...field('organization')} />
      )}
      {(ownerKinds.has(kind) || kind === 'google') && (
        <TextInput label="Project" maxLength={200} {...field('project')} />
      )}
    </details>
  );
}
