/** How a model is called; null leaves it to what stands behind: the version, or the model's own default. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
}

export const noModelSettings: ModelSettings = {
  model: null,
  temperature: null,
  maxTokens: null,
  topP: null,
};
