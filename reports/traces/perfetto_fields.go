package traces

// Fields of perfetto.protos (protos/perfetto/trace in Perfetto's public sources).
const (
	// trace.proto
	tracePacket = 1 // TracePacket
	// trace_packet.proto
	packetTimestamp  = 8
	packetSequence   = 10 // trusted_packet_sequence_id
	packetEvent      = 11 // TrackEvent
	packetInterned   = 12 // InternedData
	packetFlags      = 13 // sequence_flags
	packetDescriptor = 60 // TrackDescriptor
	flagCleared      = 1  // SEQ_INCREMENTAL_STATE_CLEARED
	flagNeeded       = 2  // SEQ_NEEDS_INCREMENTAL_STATE
	// track_event/track_descriptor.proto
	descriptorUUID    = 1
	descriptorName    = 2
	descriptorProcess = 3 // ProcessDescriptor
	descriptorParent  = 5
	descriptorCounter = 8  // CounterDescriptor
	descriptorOrder   = 11 // child_ordering
	descriptorRank    = 12 // sibling_order_rank
	orderExplicit     = 3
	// track_event/process_descriptor.proto
	processPID  = 1
	processName = 6
	// track_event/counter_descriptor.proto
	counterUnit      = 3
	counterUnitName  = 6
	counterUnitCount = 2
	// track_event/track_event.proto
	eventAnnotation  = 4 // DebugAnnotation
	eventType        = 9
	eventName        = 10 // name_iid
	eventTrack       = 11
	eventValue       = 30 // counter_value
	eventFlow        = 47 // flow_ids, fixed64
	eventTerminating = 48 // terminating_flow_ids, fixed64
	typeBegin        = 1
	typeEnd          = 2
	typeInstant      = 3
	typeCounter      = 4
	// track_event/debug_annotation.proto
	annotationName  = 1 // name_iid
	annotationInt   = 4
	annotationText  = 17 // string_value_iid
	annotationPlain = 6  // string_value
	// interned_data/interned_data.proto
	internedEvents  = 2  // EventName
	internedNames   = 3  // DebugAnnotationName
	internedStrings = 29 // InternedString
	internedIID     = 1
	internedText    = 2
)
