/** Test ids of pictures, extraction, notes and frames. */
export const structureIds = {
  pictureCopy: "picture-copy",
  pictureMarks: "picture-marks",
  picturePreview: "picture-preview",
  pictureSave: (form: string) => `picture-save-${form}`,
  pictureSize: "picture-size",
  extract: "extract",
  extractName: "extract-name",
  extractFile: "extract-file",
  extractConfirm: "extract-confirm",
  extractGiven: (key: string) => `extract-given-${key}`,
  extractTaken: (key: string) => `extract-taken-${key}`,
  extractEnds: "extract-ends",
  noteGrip: (name: string) => `note-grip-${name}`,
  noteResize: (name: string) => `note-resize-${name}`,
};
