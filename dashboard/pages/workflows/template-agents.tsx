import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import fields from '../../components/fields/fields.module.css';
import { ModelInput } from '../../components/fields/model-input.tsx';
import { Card } from '../../components/layout/card.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { useMissingAgents } from '../../data/workflows/agents-by-name.ts';
import { useDeclareAgents } from '../../data/workflows/declare-agents.ts';
import { modelsOf, type Template } from '../../data/workflows/templates.ts';
import { environmentProvidersQuery, providers } from '../../data/workspace/providers.ts';

/** Creates the prompts and agents of a template that do not exist yet. */
export function TemplateAgents({ template }: { readonly template: Template }) {
  const missing = useMissingAgents(template.agents.map(({ name }) => name));
  const stored = useQuery(providers.list());
  const environment = useQuery(environmentProvidersQuery);
  const [changed, setChanged] = useState<Readonly<Record<string, string>>>({});
  const declare = useDeclareAgents();
  if (missing.length === 0 || stored.isPending || environment.isPending) return null;
  const configured = [...(stored.data ?? []), ...(environment.data ?? [])];
  const documented = modelsOf(template);
  const isOffered = (model: string) => configured.some(({ name }) => model.startsWith(`${name}/`));
  const modelOf = (name: string) => {
    const model = documented[name] ?? '';
    return changed[name] ?? (isOffered(model) ? model : builtIn);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const models = Object.fromEntries(missing.map((name) => [name, modelOf(name).trim()]));
    declare.mutate({ template, models });
  };
  const lacking = [...new Set(missing.map((name) => documented[name] ?? ''))].filter(
    (model) => !isOffered(model),
  );
  return (
    <Card title="Agents of this template">
      <form onSubmit={submit} className="stack-small">
        <p className="note">
          The template executes agents that do not exist yet. Create them with their prompts, or
          select other agents in the definition.
          {lacking.length > 0 &&
            ` No provider is set up for ${lacking.join(', ')}: the built-in ${builtIn} returns the prompt as it is.`}
        </p>
        <div className={fields.halves}>
          {missing.map((name) => (
            <ModelInput
              key={name}
              label={`Model of ${name}`}
              required
              value={modelOf(name)}
              onChange={(model) => setChanged({ ...changed, [name]: model })}
            />
          ))}
        </div>
        <FormError error={declare.error} />
        <div>
          <Button type="submit" size="xs" loading={declare.isPending}>
            Create prompts and agents
          </Button>
        </div>
      </form>
    </Card>
  );
}

const builtIn = 'cueline/echo';
