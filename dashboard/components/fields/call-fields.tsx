import { NativeSelect, Skeleton, Textarea, TextInput } from '@mantine/core';
import { Suspense } from 'react';
import { type CallForm, optionsProblem, reasoningEfforts } from '../../data/agents/call-form.ts';
import { schemaProblem } from '../../data/prompts/schemas.ts';
import editor from '../editor/editor.module.css';
import { lazyComponent } from '../loading/lazy-component.tsx';
import { fieldError } from '../states/form-error.tsx';
import type { AgentFields } from './agent-fields.ts';
import classes from './fields.module.css';
import { NumberField } from './number-field.tsx';

const JsonEditor = lazyComponent(() => import('../editor/json-editor.tsx'));

/** The rarer settings of calls, closed unless one is set. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one form: its fields read best together
export function CallFields({ form, onChange, error, disabled = false }: AgentFields) {
  const { call } = form;
  const change = (edit: Partial<CallForm>) => onChange({ call: { ...call, ...edit } });
  const isSet = Object.values(call).some((value) => value !== '' && value !== null);
  const problem = (name: string) => fieldError(error, `agentConfig.${name}`);
  const number = (name: 'seed' | 'topK' | 'presencePenalty' | 'frequencyPenalty') => ({
    placeholder: inherited,
    value: call[name],
    onChange: (value: number | null) => change({ [name]: value }),
    error: problem(name),
    disabled,
  });
  return (
    <details className={classes.more} open={isSet || undefined}>
      <summary>More settings</summary>
      <div className="stack-small">
        <div className={classes.halves}>
          <NativeSelect
            label="Reasoning effort"
            data={[{ value: '', label: inherited }, ...reasoningEfforts]}
            value={call.reasoningEffort}
            onChange={({ currentTarget }) => change({ reasoningEffort: currentTarget.value })}
            error={problem('reasoningEffort')}
            disabled={disabled}
          />
          <NativeSelect
            label="Prompt caching"
            data={cacheChoices.map((one) => ({ ...one }))}
            value={call.cachePrompt}
            onChange={({ currentTarget }) =>
              change({ cachePrompt: currentTarget.value as CallForm['cachePrompt'] })
            }
            error={problem('cachePrompt')}
            disabled={disabled}
          />
        </div>
        <div className={classes.halves}>
          <NumberField label="Seed" {...number('seed')} />
          <NumberField label="Top K" min={1} {...number('topK')} />
          <NumberField
            label="Presence penalty"
            {...{ min: -2, max: 2, decimals: 2 }}
            {...number('presencePenalty')}
          />
          <NumberField
            label="Frequency penalty"
            {...{ min: -2, max: 2, decimals: 2 }}
            {...number('frequencyPenalty')}
          />
        </div>
        <div className={classes.halves}>
          <Textarea
            label="Stop texts"
            description="One per line"
            placeholder={inherited}
            autosize
            minRows={1}
            maxRows={8}
            spellCheck={false}
            value={call.stop}
            onChange={({ currentTarget }) => change({ stop: currentTarget.value })}
            error={problem('stop')}
            disabled={disabled}
          />
          <TextInput
            label="Service tier"
            description="The provider's name for it"
            placeholder={inherited}
            maxLength={64}
            value={call.serviceTier}
            onChange={({ currentTarget }) => change({ serviceTier: currentTarget.value })}
            error={problem('serviceTier')}
            disabled={disabled}
          />
        </div>
        <Json
          title="Output schema"
          hint="Of the version, or text"
          value={call.outputSchema}
          error={schemaProblem(call.outputSchema) ?? problem('responseFormat')}
          readOnly={disabled}
          onChange={(outputSchema) => change({ outputSchema })}
        />
        <Json
          title="Provider options"
          hint={'{"openai": {"store": true}}'}
          value={call.providerOptions}
          error={optionsProblem(call.providerOptions) ?? problem('providerOptions')}
          readOnly={disabled}
          onChange={(providerOptions) => change({ providerOptions })}
        />
      </div>
    </details>
  );
}

const inherited = 'Of the version';

const cacheChoices = [
  { value: '', label: inherited },
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

function Json(props: {
  readonly title: string;
  readonly hint: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly readOnly: boolean;
  readonly onChange: (value: string) => void;
}) {
  const { title, ...rest } = props;
  return (
    <section>
      <h3 className={classes.label}>{title}</h3>
      <div className={editor.frame}>
        <Suspense fallback={<Skeleton height={80} radius={0} />}>
          <JsonEditor label={title} {...rest} />
        </Suspense>
      </div>
    </section>
  );
}
