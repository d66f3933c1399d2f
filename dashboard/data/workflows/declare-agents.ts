import { useQueryClient } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { declareAgents, type Template } from './templates.ts';

/** Creates prompts and agents of a template in one transaction, with a model for each agent. */
export function useDeclareAgents() {
  const queries = useQueryClient();
  return useSingleFlight({
    meta: { saved: 'Prompts and agents created' },
    mutationFn: (input: {
      readonly template: Template;
      readonly models: Readonly<Record<string, string>>;
    }) => cueline.declaration.apply(declareAgents(input.template, input.models)),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['prompts'] });
      return queries.invalidateQueries({ queryKey: ['agents'] });
    },
  });
}
