import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ name: Annotation(), output: Annotation() });

export const graph = new StateGraph(State)
  .addNode('answer', ({ name }) => ({ output: `Hello ${name}` }))
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile();
