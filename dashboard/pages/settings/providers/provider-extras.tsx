import type { Provider, ProviderInput } from '../../../../src/client/index.ts';
import { Fields } from '../../../kit/fields.tsx';

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
  return {
    ...(headers && { headers }),
    ...(query && { query }),
    ...(bodyExtra && { bodyExtra }),
    ...(ownerKinds.has(kind) && texts.organization && { organization: texts.organization.trim() }),
    ...(hasProject(kind) && texts.project && { project: texts.project.trim() }),
  };
}

const ownerKinds: ReadonlySet<ProviderInput['kind']> = new Set([
  'openai',
  'azure',
  'openai-compatible',
]);

const hasProject = (kind: ProviderInput['kind']) => ownerKinds.has(kind) || kind === 'google';

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
  readonly onChange: (some: Partial<ExtraTexts>) => void;
}) {
  const { provider, kind, texts, error, onChange } = props;
  const { headerNames = [], queryNames = [], bodyExtraNames = [] } = provider ?? {};
  const stored = [...headerNames, ...queryNames, ...bodyExtraNames];
  const again = ` Enter ${stored.join(', ')} again, or none is stored.`;
  return (
    <details>
      <summary>More request settings</summary>
      <p className="note">
        For gateways, proxies and settings of the provider. Stored encrypted and never shown again.
        {stored.length > 0 && again}
      </p>
      <Fields
        values={texts}
        error={error}
        onChange={onChange}
        fields={[
          { name: 'headers', label: 'Headers', as: 'lines', placeholder: 'x-gateway-key: value' },
          {
            name: 'query',
            label: 'Query parameters',
            as: 'lines',
            placeholder: 'api-version=2024-10-21',
          },
          {
            name: 'bodyExtra',
            label: 'Fields of the body (JSON)',
            as: 'lines',
            placeholder: '{"keep_alive": "10m"}',
          },
          ownerKinds.has(kind) && { name: 'organization', label: 'Organization', maxLength: 200 },
          hasProject(kind) && { name: 'project', label: 'Project', maxLength: 200 },
        ]}
      />
    </details>
  );
}
