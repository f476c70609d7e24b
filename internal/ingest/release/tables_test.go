package release

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/schema"
)

// A cell that a table can't hold is refused with its row, not found out when it is stored.
func TestCellsThatCantBeStored(t *testing.T) {
	header := strings.Join(columns(reflect.TypeFor[schema.PublishedTask]()), ",")
	for _, c := range []struct {
		row, refused string
	}{
		{"a__b-1,1,1,0,0,1,0,5,4,-0.0", ""},
		{"a__b-1,1,1,0,0,1,0,5,4,NaN", "column elapsed_s"},
		{"a__\x00b-1,1,1,0,0,1,0,5,4,1.0", "column task_id"},
		{"a__b-1,many,1,0,0,1,0,5,4,1.0", "column n_trajectories"},
	} {
		items := ReadTasks(format.Record{File: "annotations/tasks.csv", Data: []byte(header + "\n" + c.row + "\n")})
		if len(items) != 1 {
			t.Fatalf("%q: %d items", c.row, len(items))
		}
		switch refused := items[0].Refused; {
		case c.refused == "":
			if refused != nil || math.Signbit(*items[0].Task.ElapsedS) {
				t.Errorf("%q: %v, want a row without a negative zero", c.row, refused)
			}
		case refused == nil || !strings.Contains(refused.Message, c.refused):
			t.Errorf("%q: %v, want %s refused", c.row, refused, c.refused)
		}
	}
	tier := vocabularies(reflect.TypeFor[schema.Published]())[6]
	if want := setCell(reflect.ValueOf(&schema.Published{}).Elem().FieldByName("QualityTier"), "weird", tier); !strings.Contains(want, "ideal") {
		t.Errorf("an unknown tier: want %q", want)
	}
}
