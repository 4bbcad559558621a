/// <reference types="@webgpu/types" preserve="true" />
export type { Dtype, HostData } from "./arrays/dtypes.js";
export { type HostArray, hostArray } from "./arrays/hostArray.js";
export type { PrngKey } from "./arrays/prngKey.js";
export type { ByteRange } from "./bytes/ranges.js";
export { type CopyStepsOptions, copySteps } from "./checkpoint/copy/copySteps.js";
export { type ZipStepsOptions, zipSteps } from "./checkpoint/copy/zipSteps.js";
export { type CheckpointDirectory, resolveCheckpointDir } from "./checkpoint/directory.js";
export type { ItemLayout } from "./checkpoint/item/layout.js";
export type { LeafInfo } from "./checkpoint/item/leafInfo.js";
export type { Complex, PlainValue, RestoredArray, RestoredLeaf, RestoredTree } from "./checkpoint/item/leaves.js";
export type { OrbaxMetadata } from "./checkpoint/metadata/orbaxMetadata.js";
export { type OpenOptions, openCheckpoint } from "./checkpoint/openCheckpoint.js";
export type { OpenedCheckpoint } from "./checkpoint/openedCheckpoint.js";
export type { Checkpoint, OpenedStep, RestoredCheckpoint } from "./checkpoint/openedStep.js";
export type { CheckpointKind } from "./checkpoint/place/place.js";
export { CheckpointMetadata, Producer } from "./checkpoint/record/checkpointMetadata.js";
export type { PlainJson } from "./checkpoint/record/untagged.js";
export type { Region } from "./checkpoint/restore/region.js";
export type {
  ReadArrayOptions,
  ReadRules,
  RestoreDefaults,
  RestoreOptions,
  WholeRestoreOptions,
} from "./checkpoint/restore/restoreOptions.js";
export {
  type GpuArrayLike,
  type PyFloat,
  pyFloat,
  type Saveable,
  type SaveableItems,
  type SaveableLeaf,
} from "./checkpoint/save/saveable.js";
export type { Compression, LockOptions, SaveOptions } from "./checkpoint/save/saveOptions.js";
export {
  type BestStepOptions,
  type CheckpointStore,
  OrbaxCheckpointStore,
  type ReadStepOptions,
  type Saving,
  type StoreOptions,
} from "./checkpoint/store.js";
export type {
  Extent,
  HostArrayTemplate,
  ItemName,
  PartlyRestored,
  Placed,
  Restored,
  RestoredItemsOf,
  Template,
  Templates,
  TypedArray,
} from "./checkpoint/template/restoredTypes.js";
export type { Selection } from "./checkpoint/template/selection.js";
export { type Placement, type ShapeDtypeStruct, shapeDtypeStruct } from "./checkpoint/template/template.js";
export { type TemplateOf, templateOf } from "./checkpoint/template/templateOf.js";
export {
  CheckpointDtypeMismatchError,
  type CheckpointErrorKind,
  type CheckpointErrors,
  CheckpointNotFoundError,
  CheckpointNotWrittenError,
  CheckpointTreeMismatchError,
  CheckpointValidationError,
  CheckpointValueError,
  CorruptCheckpointError,
  DeviceError,
  type DtypeMismatch,
  isCheckpointError,
  StorageError,
  type StorageErrorReason,
  type TreeMismatch,
  UnsupportedCheckpointError,
  type ValidationIssue,
} from "./errors.js";
export type { GpuArray } from "./gpu/gpuArray.js";
export type { BufferLimits } from "./gpu/limits.js";
export { directoryStorage } from "./storage/directory.js";
export type { FileWriter } from "./storage/fileWriter.js";
export { writeIndex } from "./storage/hosts/writeIndex.js";
export { type HttpStorageOptions, httpStorage } from "./storage/http.js";
export type { DirectoryLocks, LockRequest } from "./storage/locks/locks.js";
export { memoryStorage } from "./storage/memory.js";
export { type Mirror, type MirrorOptions, mirrored } from "./storage/mirror/mirrored.js";
export type { MirrorProgress } from "./storage/mirror/progress.js";
export { opfsStorage } from "./storage/opfs.js";
export { recallDirectory, rememberDirectory } from "./storage/rememberedDirectories.js";
export type {
  CreateOptions,
  FactsOptions,
  FileFacts,
  ReadableStorage,
  ReadOptions,
  StorageListing,
  WritableStorage,
} from "./storage/storage.js";
export { type ZipStorageOptions, zipStorage } from "./storage/zip.js";
export type { ProgressEvent } from "./tasks/context.js";
